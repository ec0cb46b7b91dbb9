(* Prints its own number and reads a line: a system call that goes on after a signal. *)
(* libs: unix *)

let () =
  Printf.printf "%d\n%!" (Unix.getpid ());
  ignore (input_line stdin);
  print_endline "line"
