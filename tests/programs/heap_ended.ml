(* Domains that have ended: what they made is kept by ephemerons and finalisers of theirs, which no other
   domain has taken over yet. Domain n makes a key of 100 + n words and data of 200 + n, and gives an
   array of 300 + n words to Gc.finalise and one of 400 + n, which is kept, to Gc.finalise_last.
   Prints its number and waits for a line. *)
(* libs: unix *)
(* from: 5.0 *)

let first a = Printf.printf "%d" (Array.length a)
let last () = print_string "last"

let work n =
  let key = Array.make (100 + n) n in
  let ephemeron = Ephemeron.K1.make key (Array.make (200 + n) n) in
  Gc.finalise first (Array.make (300 + n) n);
  let kept = Array.make (400 + n) n in
  Gc.finalise_last last kept;
  (key, ephemeron, kept)

let kept = List.map (fun n -> Domain.join (Domain.spawn (fun () -> work n))) [ 1; 2; 3; 4 ]

let () =
  Printf.printf "%d\n%!" (Unix.getpid ());
  ignore (input_line stdin);
  let alive (key, ephemeron, _) = Ephemeron.K1.query ephemeron key <> None in
  print_endline (string_of_bool (List.for_all alive kept))
