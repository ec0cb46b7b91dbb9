(* Reports memory outside the heap: 1,000 pieces of 64 KiB, every other of them freed. *)

let[@inline never] report () = Memtrail.External.alloc ~bytes:65_536

let () =
  let tokens = List.init 1_000 (fun _ -> report ()) in
  List.iteri (fun i -> function
    | Some token when i mod 2 = 0 -> Memtrail.External.free token
    | _ -> ()) tokens;
  assert (Memtrail.External.alloc ~bytes:0 = None);
  assert (Memtrail.External.alloc ~bytes:(-8) = None);
  print_endline "done"
