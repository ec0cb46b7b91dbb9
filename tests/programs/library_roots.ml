(* Prints what its modules' fields and its stack reach. *)

let small = [Sys.opaque_identity 1]
let big = List.init 1_000 (fun i -> i)
let none = Sys.opaque_identity 0

let[@inline never] inner array =
  Memtrail.print_stack_reachable stdout 100;
  Gc.full_major ();
  Array.length array

let[@inline never] outer list =
  let n = inner (Array.make 500 0) in
  n + List.length list

let () =
  ignore (small, none);
  Memtrail.print_global_reachable stdout 2_000;
  Printf.printf "big is field %d, a new one %d\n" (Memtrail.get_field_index (Obj.repr big))
    (Memtrail.get_field_index (Obj.repr (ref 0)));
  Printf.printf "%d\n" (outer (List.init 100 (fun i -> i)))
