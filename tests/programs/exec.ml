(* execv of itself with other arguments, twice: what was recorded before must be in a file, and
   the new program starts as it would without us. *)
(* libs: unix *)

let () =
  let kept = List.init 50_000 (fun i -> (i, string_of_int i)) in
  let n = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 2 in
  Printf.printf "%d in %s: %d\n%!" n (Filename.basename Sys.executable_name) (List.length kept);
  at_exit (fun () -> Printf.printf "at_exit %d\n" n);
  if n > 0 then Unix.execv Sys.executable_name [| Sys.argv.(0); string_of_int (n - 1) |];
  exit 4
