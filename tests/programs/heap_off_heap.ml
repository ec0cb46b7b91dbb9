(* Memory of bigarrays, which is off-heap: `images` has a few words in the heap for 9 MB outside, and grows with
   each collection. `names` is larger in the heap, and stays as it is. Pauses let a snapshot be written before the
   next one. *)
(* libs: unix *)

open Bigarray

let names = Array.init 1_000 (fun number -> string_of_int number)
let images = ref []
let load () = images := Array1.create char c_layout 1_000_000 :: !images

let () =
  for _ = 1 to 8 do
    load ();
    Gc.major ();
    Unix.sleepf 0.1
  done;
  load ();
  Printf.printf "%d %d\n" (Array.length names) (List.length !images)
