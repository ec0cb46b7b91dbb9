(* The news server of `memtrail demo` with its three leaks mended: a cache that evicts, a queue that keeps up, callbacks that
   are removed. *)

module Articles = struct
  type t = { number : int; title : string; words : string list }

  let all =
    Array.init 500 (fun number ->
        let title = Printf.sprintf "Article %d" number in
        { number; title; words = List.init 60 (fun i -> "word" ^ string_of_int ((number * i) mod 997)) })

  let for_reader reader = List.init 5 (fun i -> all.((reader * 31 + i * 17) mod 500))
end

(* Honest work: rendered, sent, forgotten. *)
module Page = struct
  let render_article buffer { Articles.number; title; words } =
    Buffer.add_string buffer (Printf.sprintf "<h1 id=%d>%s</h1>" number (String.uppercase_ascii title));
    List.iter
      (fun word ->
        Buffer.add_string buffer word;
        Buffer.add_char buffer ' ')
      (List.rev_map String.capitalize_ascii words)

  let render reader =
    let buffer = Buffer.create 256 in
    List.iter (render_article buffer) (Articles.for_reader reader);
    Buffer.contents buffer
end

(* A cache that evicts: sessions end, and are taken out. *)
module Session_cache = struct
  type session = { reader : int; token : string; history : int array }

  let sessions : (string, session) Hashtbl.t = Hashtbl.create 1_000

  let load reader token = { reader; token; history = Array.make 100 reader }

  let find reader token =
    match Hashtbl.find_opt sessions token with
    | Some session -> session
    | None ->
        let session = load reader token in
        Hashtbl.add sessions token session;
        session

  let forget token = Hashtbl.remove sessions token
end

(* A queue that keeps up: each visit queues a letter, and sends one when there are enough. *)
module Outbox = struct
  type letter = { recipient : int; body : Bytes.t }

  let pending : letter Queue.t = Queue.create ()
  let sent = ref 0

  let compose recipient = { recipient; body = Bytes.create 1_500 }
  let post recipient = Queue.push (compose recipient) pending

  let send () =
    match Queue.take_opt pending with
    | Some letter -> sent := !sent + Bytes.length letter.body + (letter.recipient land 1)
    | None -> ()
end

(* A list of callbacks. A connection subscribes when it opens, and unsubscribes when it closes. *)
module Listeners = struct
  let subscribed : (int * (int -> int)) list ref = ref []
  let subscribe reader callback = subscribed := (reader, callback) :: !subscribed
  let unsubscribe reader = subscribed := List.filter (fun (other, _) -> other <> reader) !subscribed
  let announce number = List.fold_left (fun n (_, callback) -> n + callback number) 0 !subscribed
end

module Connection = struct
  let open_ reader =
    let buffer = Bytes.create 4_096 in
    Bytes.fill buffer 0 4_096 (Char.chr (reader land 127));
    Listeners.subscribe reader (fun number -> Char.code (Bytes.get buffer (number land 4_095)));
    buffer
end

let token_of reader = Printf.sprintf "%08x" (reader * 2_654_435_761 land 0xffff_ffff)

let visit reader =
  let token = token_of reader in
  let session = Session_cache.find reader token in
  let length = ref (session.Session_cache.history.(0) land 1) in
  for page = 1 to 4 do
    length := !length + String.length (Page.render (reader + page))
  done;
  if reader mod 4 = 0 then length := !length + Bytes.length (Connection.open_ reader);
  Outbox.post reader;
  if Queue.length Outbox.pending > 200 then Outbox.send ();
  Session_cache.forget (token_of (reader - 1_000));
  if reader mod 4 = 0 then Listeners.unsubscribe (reader - 400);
  !length

let () =
  let readers = 40_000 in
  let bytes = ref 0 in
  for reader = 1 to readers do
    bytes := !bytes + visit reader
  done;
  let heard = Listeners.announce readers in
  Printf.printf "%d readers, %d bytes of pages, %d sessions, %d letters waiting, %d listeners (%d)\n"
    readers !bytes
    (Hashtbl.length Session_cache.sessions)
    (Queue.length Outbox.pending)
    (List.length !Listeners.subscribed)
    heard
