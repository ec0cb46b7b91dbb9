(* Prints its number, fills 32 MiB, and waits for a line. *)
(* libs: unix *)

let () =
  Printf.printf "%d\n%!" (Unix.getpid ());
  let kept = List.init 32 (fun _ -> Array.init 1024 (fun i -> Array.make 127 i)) in
  ignore (input_line stdin);
  print_endline (string_of_int (List.length (Sys.opaque_identity kept)))
