(* Allocates known numbers of words in functions named after their block size, and prints the exact
   total of each: `function blocks wosize words`, headers counted in the words. A seed decides
   counts and order, so that sampled totals can be held against the truth a thousand times.
   About 2 million words, under 15 ms. Arguments: SEED [SCALE]. *)
(* libs: *)

let sink = Obj.repr

let[@inline never] alloc_small_1 n = for i = 1 to n do ignore (Sys.opaque_identity (sink (ref i))) done
let[@inline never] alloc_small_3 n = for i = 1 to n do ignore (Sys.opaque_identity (sink (i, i, i))) done

let[@inline never] alloc_small_10 n =
  for i = 1 to n do ignore (Sys.opaque_identity (sink (i, i, i, i, i, i, i, i, i, i))) done

(* Two blocks in one allocation of the compiler (comballoc): a pair that holds a triple. *)
let[@inline never] alloc_both_5 n = for i = 1 to n do ignore (Sys.opaque_identity (sink (i, (i, i, i)))) done

let[@inline never] alloc_float_1 n =
  for i = 1 to n do ignore (Sys.opaque_identity (sink (Sys.opaque_identity (float_of_int i)))) done

(* Small blocks that C allocates. *)
let[@inline never] alloc_bytes_25 n = for _ = 1 to n do ignore (Sys.opaque_identity (Bytes.create 199)) done
let[@inline never] alloc_array_100 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 100 i)) done
let[@inline never] alloc_array_256 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 256 i)) done

(* Straight into the major heap. *)
let[@inline never] alloc_large_257 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 257 i)) done
let[@inline never] alloc_large_1000 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 1000 i)) done
let[@inline never] alloc_large_20000 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 20000 i)) done

(* name, function, blocks a call, words a block (header counted), words wanted in all *)
let sites =
  [|
    ("alloc_small_1", alloc_small_1, 1, 1, 150_000);
    ("alloc_small_3", alloc_small_3, 1, 3, 250_000);
    ("alloc_small_10", alloc_small_10, 1, 10, 250_000);
    ("alloc_both_5", alloc_both_5, 2, 5, 200_000);
    ("alloc_float_1", alloc_float_1, 1, 1, 100_000);
    ("alloc_bytes_25", alloc_bytes_25, 1, 25, 200_000);
    ("alloc_array_100", alloc_array_100, 1, 100, 200_000);
    ("alloc_array_256", alloc_array_256, 1, 256, 200_000);
    ("alloc_large_257", alloc_large_257, 1, 257, 150_000);
    ("alloc_large_1000", alloc_large_1000, 1, 1000, 150_000);
    ("alloc_large_20000", alloc_large_20000, 1, 20000, 200_000);
  |]

(* A generator of our own: Stdlib's changed with OCaml 5. *)
let state = ref 0

let below n =
  state := ((!state * 2862933555777941757) + 3037000493) land max_int;
  (!state lsr 20) mod n

let () =
  state := (int_of_string Sys.argv.(1) * 7919) + 17;
  let scale = if Array.length Sys.argv > 2 then float_of_string Sys.argv.(2) else 1. in
  for _ = 1 to 10 do
    ignore (below 2)
  done;
  let calls = Array.make (Array.length sites) 0 in
  (* Twenty rounds, each a random tenth (5 to 15 %) of every site, in a random order. *)
  for _ = 1 to 20 do
    let first = below (Array.length sites) in
    Array.iteri
      (fun k _ ->
        let at = (first + k) mod Array.length sites in
        let _, f, blocks, wosize, wanted = sites.(at) in
        let words = float_of_int (wanted * (50 + below 100)) /. 2000. *. scale in
        let each = float_of_int (wosize + blocks) in
        let n = int_of_float (words /. each) + below 2 in
        calls.(at) <- calls.(at) + n;
        f n)
      sites
  done;
  Array.iteri
    (fun at (name, _, blocks, wosize, _) ->
      let n = calls.(at) in
      Printf.printf "%s %d %d %d\n" name (n * blocks) wosize (n * (wosize + blocks)))
    sites
