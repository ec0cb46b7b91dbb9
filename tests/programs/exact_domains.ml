(* As exact.ml, in four domains at once: known numbers of words, from small and from large blocks, by
   OCaml code and by C code. Prints `function blocks wosize words`, headers counted in the words.
   Argument: SEED. *)
(* libs: *)
(* from: 5.3 *)

let sink = Obj.repr

let[@inline never] alloc_small_3 n = for i = 1 to n do ignore (Sys.opaque_identity (sink (i, i, i))) done
let[@inline never] alloc_both_5 n = for i = 1 to n do ignore (Sys.opaque_identity (sink (i, (i, i, i)))) done
let[@inline never] alloc_bytes_25 n = for _ = 1 to n do ignore (Sys.opaque_identity (Bytes.create 199)) done
let[@inline never] alloc_large_1000 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 1000 i)) done

let sites =
  [|
    ("alloc_small_3", alloc_small_3, 1, 3, 6_000);
    ("alloc_both_5", alloc_both_5, 2, 5, 4_000);
    ("alloc_bytes_25", alloc_bytes_25, 1, 25, 1_000);
    ("alloc_large_1000", alloc_large_1000, 1, 1000, 20);
  |]

let rounds = 10

let work seed =
  for round = 1 to rounds do
    Array.iteri (fun at _ -> let _, f, _, _, n = sites.((at + seed + round) mod 4) in f n) sites
  done

let () =
  let seed = int_of_string Sys.argv.(1) in
  let others = List.init 3 (fun i -> Domain.spawn (fun () -> work (seed + i))) in
  work (seed + 3);
  List.iter Domain.join others;
  Array.iter
    (fun (name, _, blocks, wosize, n) ->
      let n = 4 * rounds * n in
      Printf.printf "%s %d %d %d\n" name (n * blocks) wosize (n * (wosize + blocks)))
    sites
