(* Prints its own number and waits on standard input, deep in a recursion whose frames hold arrays:
   frame n holds one of 100 + n words. Then says what interrupted it, if anything did. *)
(* libs: unix *)

let rec nested n =
  if n = 0 then begin
    Printf.printf "%d\n%!" (Unix.getpid ());
    (match Unix.select [ Unix.stdin ] [] [] 60.0 with
     | _ -> print_endline "woken by input"
     | exception Unix.Unix_error (error, _, _) -> print_endline (Unix.error_message error));
    0
  end
  else begin
    let held = Array.make (99 + n) n in
    let below = nested (n - 1) in
    below + Array.length (Sys.opaque_identity held)
  end

let () = print_endline (string_of_int (nested 3))
