(* A small news server, simulated: clients connect, read their feed, and go. Everything it needs
   for a page is garbage a moment later, as it should be. Three things are not. *)

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

(* First leak: a cache that never evicts. Sessions end, but nobody takes them out again. *)
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
end

(* Second leak: a queue that falls behind. Each visit queues a letter; two are sent for every three
   that come in. *)
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

(* Third leak: a closure kept by a list of callbacks. A connection subscribes when it opens and
   does not unsubscribe when it closes; its closure keeps its buffer. *)
module Listeners = struct
  let subscribed : (int -> int) list ref = ref []
  let subscribe callback = subscribed := callback :: !subscribed
  let announce number = List.fold_left (fun n callback -> n + callback number) 0 !subscribed
end

module Connection = struct
  let open_ reader =
    let buffer = Bytes.create 4_096 in
    Bytes.fill buffer 0 4_096 (Char.chr (reader land 127));
    Listeners.subscribe (fun number -> Char.code (Bytes.get buffer (number land 4_095)));
    buffer
end

let visit reader =
  let token = Printf.sprintf "%08x" (reader * 2_654_435_761 land 0xffff_ffff) in
  let session = Session_cache.find reader token in
  let length = ref (session.Session_cache.history.(0) land 1) in
  for page = 1 to 4 do
    length := !length + String.length (Page.render (reader + page))
  done;
  if reader mod 4 = 0 then length := !length + Bytes.length (Connection.open_ reader);
  Outbox.post reader;
  if reader mod 3 <> 0 then Outbox.send ();
  !length

let () =
  let readers = match Sys.argv with [| _; readers |] -> int_of_string readers | _ -> 40_000 in
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
