(* Allocates 60,000,000 bytes of small blocks after it has set the size of its minor heap, unless the
   argument, in words, is 0: samplers see less in a small one. *)
(* libs: *)

let[@inline never] pairs n =
  for i = 1 to n do
    ignore (Sys.opaque_identity (i, i))
  done

let () =
  let words = int_of_string Sys.argv.(1) in
  if words > 0 then Gc.set { (Gc.get ()) with minor_heap_size = words };
  pairs 2_500_000
