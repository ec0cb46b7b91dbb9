(* A process and its fork, each of which keeps more and more, and collects after each step, so that snapshots at
   collections show it. *)
(* libs: unix *)

let kept = ref []

let grow steps elements =
  for _ = 1 to steps do
    kept := List.init elements (fun i -> (i, i)) :: !kept;
    Gc.full_major ()
  done

let () =
  grow 4 2_000;
  match Unix.fork () with
  | 0 -> grow 4 1_000; exit 0
  | pid -> ignore (Unix.waitpid [] pid)
