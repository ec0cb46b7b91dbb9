(* Starts a sampler of its own: recording ends, snapshots go on. *)

let kept = ref []

let work () =
  for i = 1 to 50_000 do
    kept := (i, i) :: !kept
  done

let () =
  Memtrail.with_label "before" work;
  let samples = ref 0 in
  let count _ = incr samples; None in
  ignore (Gc.Memprof.start ~sampling_rate:1e-2
    { Gc.Memprof.null_tracker with alloc_minor = count; alloc_major = count });
  Memtrail.with_label "after" work;
  Gc.Memprof.stop ();
  assert (!samples > 1_000);
  assert (not (Memtrail.currently_tracing ()));
  assert (Memtrail.External.alloc ~bytes:1_000_000_000 = None);
  Memtrail.dump "after";
  print_endline "done"
