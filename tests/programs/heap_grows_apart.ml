(* Prints its number; four domains, none of them the main one, fill 8 MiB each and wait for the end of
   the line that the main one reads. *)
(* libs: unix *)
(* from: 5.0 *)

let from, into = Unix.pipe ()

let work () =
  let kept = List.init 8 (fun _ -> Array.init 1024 (fun i -> Array.make 127 i)) in
  ignore (Unix.read from (Bytes.create 1) 0 1);
  List.length (Sys.opaque_identity kept)

let () =
  Printf.printf "%d\n%!" (Unix.getpid ());
  let domains = List.init 4 (fun _ -> Domain.spawn work) in
  ignore (input_line stdin);
  ignore (Unix.write_substring into "done" 0 4);
  print_endline (string_of_int (List.fold_left (fun sum d -> sum + Domain.join d) 0 domains))
