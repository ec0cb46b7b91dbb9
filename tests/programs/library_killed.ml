(* Takes a snapshot and is killed at once. *)
(* libs: unix *)

let kept = Array.init 100_000 (fun i -> ref i)

let () =
  Memtrail.dump "last words";
  ignore (Sys.opaque_identity kept);
  Unix.kill (Unix.getpid ()) Sys.sigkill
