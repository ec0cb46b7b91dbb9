(* libs: unix *)
(* Views of bigarrays: what stands outside the heap belongs to all views of the same data together,
   and is as large as what was allocated, also when only a small view is left. *)

open Bigarray

let create bytes = Array1.create char c_layout bytes
let view whole = Array1.sub whole 0 10

(* 2, 3, 4 *) let first, second, third =
  (view (create 10_000_000), view (create 20_000_000), view (create 30_000_000))

(* 5, 6 *) let one, other =
  let whole = create 40_000_000 in
  (view whole, view whole)

(* 7, 8 *) let whole, part =
  let whole = create 50_001 in
  (whole, Array1.sub whole 100 100)

(* 9, 10 *) let mapped, view_of_mapped =
  let map bytes =
    let file = Unix.openfile "mapped" [ Unix.O_RDWR; Unix.O_CREAT; Unix.O_TRUNC ] 0o600 in
    let array = array1_of_genarray (Unix.map_file file char c_layout true [| bytes |]) in
    Unix.close file;
    Unix.unlink "mapped";
    array
  in
  (map 123_456, view (map 234_567))

let () =
  Gc.full_major ();
  let all = [ first; second; third; one; other; whole; part; mapped; view_of_mapped ] in
  Printf.printf "%d\n" (List.fold_left (fun sum array -> sum + Array1.dim array) 0 all)
