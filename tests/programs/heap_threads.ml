(* Threads that wait, each in its own way and with an array of its own in its frame: thread n holds
   1000 * n words. Prints its number and waits for a line. *)
(* libs: unix threads *)

let lock = Mutex.create ()
let changed = Condition.create ()
let ready = ref 0
let go = ref false

let wait (n, how) =
  let held = Array.make (1000 * n - 1) n in
  Mutex.lock lock;
  incr ready;
  Condition.broadcast changed;
  Mutex.unlock lock;
  how ();
  Array.length (Sys.opaque_identity held)

let until condition =
  Mutex.lock lock;
  while not (condition ()) do Condition.wait changed lock done;
  Mutex.unlock lock

let () =
  let from, into = Unix.pipe () in
  let listening = Unix.socket Unix.PF_INET Unix.SOCK_STREAM 0 in
  Unix.bind listening (Unix.ADDR_INET (Unix.inet_addr_loopback, 0));
  Unix.listen listening 1;
  let by_condition () = until (fun () -> !go) in
  let by_select () = ignore (Unix.select [ from ] [] [] (-1.0)) in
  let by_accept () = Unix.close (fst (Unix.accept listening)) in
  let threads =
    List.map (Thread.create wait) [ 1, by_condition; 2, by_select; 3, by_accept ]
  in
  until (fun () -> !ready = 3);
  Printf.printf "%d\n%!" (Unix.getpid ());
  ignore (input_line stdin);
  Mutex.lock lock;
  go := true;
  Condition.broadcast changed;
  Mutex.unlock lock;
  ignore (Unix.write_substring into "x" 0 1);
  let visitor = Unix.socket Unix.PF_INET Unix.SOCK_STREAM 0 in
  Unix.connect visitor (Unix.getsockname listening);
  List.iter Thread.join threads;
  print_endline "done"
