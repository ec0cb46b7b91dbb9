(* Its own sampler's callbacks end the threads that they run on, the main one last: as
   statmemprof/thread_exit_in_callback of OCaml's own testsuite. *)
(* libs: unix threads *)
[@@@alert "-deprecated"]

let start (callback : Gc.Memprof.allocation -> unit option) =
  let tracker = { Gc.Memprof.null_tracker with alloc_minor = callback } in
  let _ = Gc.Memprof.start ~callstack_size:10 ~sampling_rate:1. tracker in
  ()

let () =
  let main = Thread.id (Thread.self ()) in
  start (fun _ -> if Thread.id (Thread.self ()) <> main then Thread.exit (); None);
  let allocate () =
    ignore (Sys.opaque_identity (ref 1));
    assert false
  in
  Thread.join (Thread.create allocate ());
  Gc.Memprof.stop ();
  print_endline "joined";
  start (fun _ -> Thread.exit (); None);
  ignore (Sys.opaque_identity (ref 1));
  assert false
