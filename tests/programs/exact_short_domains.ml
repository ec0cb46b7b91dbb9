(* As exact_domains.ml, in 150 domains that end before their minor heap is full, three at once.
   Argument: SEED. *)
(* libs: *)
(* from: 5.1 *)

let sink = Obj.repr

let[@inline never] alloc_small_3 n = for i = 1 to n do ignore (Sys.opaque_identity (sink (i, i, i))) done
let[@inline never] alloc_bytes_25 n = for _ = 1 to n do ignore (Sys.opaque_identity (Bytes.create 199)) done
let[@inline never] alloc_large_1000 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 1000 i)) done

let sites =
  [|
    ("alloc_small_3", alloc_small_3, 3, 400);
    ("alloc_bytes_25", alloc_bytes_25, 25, 60);
    ("alloc_large_1000", alloc_large_1000, 1000, 2);
  |]

let rounds = 50

let work seed = Array.iteri (fun at _ -> let _, f, _, n = sites.((at + seed) mod 3) in f n) sites

let () =
  let seed = int_of_string Sys.argv.(1) in
  for round = 1 to rounds do
    List.iter Domain.join (List.init 3 (fun i -> Domain.spawn (fun () -> work (seed + round + i))))
  done;
  Array.iter
    (fun (name, _, wosize, n) ->
      let blocks = 3 * rounds * n in
      Printf.printf "%s %d %d %d\n" name blocks wosize (blocks * (wosize + 1)))
    sites
