(* Allocates a known list, says so, then sleeps: what was sampled must be in the file within a
   second, and survive kill -9. Argument: seconds to sleep (default 60). *)
(* libs: unix *)

let kept = ref []

let[@inline never] keep_forever n =
  for i = 1 to n do
    kept := (i, String.make 100 'k') :: !kept
  done

let () =
  keep_forever 100_000;
  print_endline "ready";
  flush stdout;
  let seconds = if Array.length Sys.argv > 1 then float_of_string Sys.argv.(1) else 60. in
  Unix.sleepf seconds;
  Printf.printf "kept %d\n" (List.length !kept)
