(* A program that stops a sampler it never started, again and again: an exception each time, and
   nothing else. *)
(* libs: *)

let kept = ref []

let[@inline never] keep n = for i = 1 to n do kept := Sys.opaque_identity (ref i) :: !kept done

let () =
  for round = 1 to 3 do
    keep 100_000;
    match Gc.Memprof.stop () with
    | () -> Printf.printf "round %d: stopped\n" round
    | exception Failure m -> Printf.printf "round %d: %s\n" round m
  done;
  keep 100_000;
  Printf.printf "%d\n" (List.length !kept)
