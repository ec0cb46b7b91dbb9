(* Systhreads that allocate, block, yield and end: callbacks arrive on any of them. *)
(* libs: unix threads *)

let lock = Mutex.create ()
let total = ref 0

let work id =
  let mine = ref [] in
  for i = 1 to 30_000 do
    mine := (id, i) :: !mine;
    if i mod 10_000 = 0 then Thread.yield ();
    if i mod 1_000 = 0 then mine := List.filteri (fun j _ -> j < 100) !mine
  done;
  Mutex.lock lock;
  total := !total + List.length !mine;
  Mutex.unlock lock

let blocked_reader from =
  let b = Bytes.create 1 in
  let rec loop n = match Unix.read from b 0 1 with 0 -> n | k -> loop (n + k) in
  let n = loop 0 in
  Mutex.lock lock;
  total := !total + n;
  Mutex.unlock lock

let () =
  let from, into = Unix.pipe () in
  let reader = Thread.create blocked_reader from in
  for _ = 1 to 5 do
    let ts = List.init 4 (fun id -> Thread.create work id) in
    List.iter Thread.join ts;
    ignore (Unix.write_substring into "x" 0 1)
  done;
  Unix.close into;
  Thread.join reader;
  (* A thread that dies of an exception does not take the others along. *)
  let dying = Thread.create (fun () -> ignore (List.init 1000 string_of_int); raise Exit) () in
  Thread.join dying;
  Printf.printf "total %d\n" !total
