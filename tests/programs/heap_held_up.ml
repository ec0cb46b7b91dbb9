(* Prints its number, stays in a C function that keeps the runtime for three seconds, and leaves from
   another: its heap is never in a state that can be copied. *)
(* libs: unix *)

external sleep : (int[@untagged]) -> (int[@untagged]) = "none" "sleep" [@@noalloc]
external leave : (int[@untagged]) -> (int[@untagged]) = "none" "_exit" [@@noalloc]

let () =
  Printf.printf "%d\n%!" (Unix.getpid ());
  ignore (sleep 3);
  ignore (leave 0)
