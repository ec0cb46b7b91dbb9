(* Allocates as fast as OCaml can (about 1e9 words a second) with stacks under 30 frames: the worst
   case for a sampler. Argument: rounds (default 20). *)
(* libs: *)

module Ints = Set.Make (Int)

let rec upto n acc = if n = 0 then acc else upto (n - 1) (n :: acc)

let lists () =
  let l = upto 1000 [] in
  let l = List.map (fun x -> x * 7 land 1023) l in
  let l = List.filter (fun x -> x land 1 = 0) l in
  let l = List.rev_map (fun x -> (x, float_of_int x)) l in
  List.fold_left (fun sum (x, y) -> sum + x + int_of_float y) 0 l

let sets seed =
  let rec fill n x set =
    if n = 0 then set else fill (n - 1) ((x * 1103515245 + 12345) land 0xffff) (Ints.add x set)
  in
  let a = fill 200 seed Ints.empty and b = fill 200 (seed + 1) Ints.empty in
  Ints.cardinal (Ints.union a b) + Ints.cardinal (Ints.inter a b)

let round seed =
  let sum = ref 0 in
  for i = 1 to 100 do
    for _ = 1 to 10 do
      sum := !sum + lists ()
    done;
    sum := !sum + sets (seed + i)
  done;
  !sum

let () =
  let rounds = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 20 in
  let sum = ref 0 in
  for seed = 1 to rounds do
    sum := (!sum + round seed) land 0x3fffffff
  done;
  Printf.printf "sum %d\n" !sum
