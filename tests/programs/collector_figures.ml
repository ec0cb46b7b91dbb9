(* What the collector counts is what it counts without us: samples leave nothing in the minor heap. *)

let words f =
  let before = Gc.minor_words () in
  f ();
  int_of_float (Gc.minor_words () -. before)

let refs n () =
  for i = 1 to n do
    ignore (Sys.opaque_identity (ref i))
  done

let arrays n () =
  for i = 1 to n do
    ignore (Sys.opaque_identity (Array.make 8 i))
  done

let collections f =
  let before = (Gc.quick_stat ()).Gc.minor_collections in
  f ();
  (Gc.quick_stat ()).Gc.minor_collections - before

let () =
  (* Less than a minor heap in all: 200,000 words of 262,144. *)
  Gc.minor ();
  let small = words (refs 55_000) in
  let from_c = words (arrays 10_000) in
  (* To the nearest ten: a sample just before a collection still makes it come early. *)
  let tens = (collections (refs 10_000_000) + 5) / 10 in
  Printf.printf "%d words, %d from C, %d0 collections\n" small from_c tens
