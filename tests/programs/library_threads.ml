(* Threads that take snapshots and work below labels at the same time. *)
(* libs: unix threads *)

let allocate n =
  let kept = ref [] in
  for i = 1 to n do
    kept := (i, i) :: !kept;
    if i mod 1_000 = 0 then Thread.yield ()
  done;
  ignore (Sys.opaque_identity !kept)

let worker name = Memtrail.with_label name (fun () -> allocate 100_000; Memtrail.dump name)

let () =
  let threads = List.map (Thread.create worker) ["one"; "two"; "three"] in
  allocate 100_000;
  List.iter Thread.join threads;
  print_endline "done"
