(* Threads that wait, each with an array of its own in its frame: thread n holds 1000 * n words. *)
(* libs: unix threads *)

let wait n =
  let held = Array.make (1000 * n - 1) n in
  Thread.delay 2.0;
  Array.length (Sys.opaque_identity held)

let () =
  let threads = List.init 3 (fun n -> Thread.create wait (n + 1)) in
  Printf.printf "%d\n%!" (Unix.getpid ());
  List.iter Thread.join threads;
  print_endline "done"
