(* Identifiers of threads that begin after a wait for a line of input; prints its number before. *)
(* libs: unix threads *)

let say name = Printf.printf "%s %d\n%!" name (Thread.id (Thread.self ()))

let () =
  Printf.printf "%d\n%!" (Unix.getpid ());
  ignore (input_line stdin);
  for _ = 1 to 3 do Thread.join (Thread.create say "after") done
