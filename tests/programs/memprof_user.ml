(* A program that uses Gc.Memprof itself: start, stop, start again. Its rate is 1, so its counts
   are exact and must be those it gets without us. *)
(* libs: *)

let allocs = ref 0
let words = ref 0
let frees = ref 0

let tracker =
  {
    Gc.Memprof.alloc_minor = (fun a -> incr allocs; words := !words + a.Gc.Memprof.n_samples; Some ());
    alloc_major = (fun a -> incr allocs; words := !words + a.Gc.Memprof.n_samples; Some ());
    promote = (fun () -> Some ());
    dealloc_minor = (fun () -> incr frees);
    dealloc_major = (fun () -> incr frees);
  }

let[@inline never] work n =
  let rec go i acc = if i = 0 then acc else go (i - 1) (Sys.opaque_identity (ref i) :: acc) in
  List.length (Sys.opaque_identity (go n []))

let profile n =
  allocs := 0;
  words := 0;
  frees := 0;
  ignore (Gc.Memprof.start ~sampling_rate:1.0 ~callstack_size:10 tracker);
  let total = work n in
  Gc.full_major ();
  Gc.Memprof.stop ();
  Printf.printf "n %d allocs %d words %d all freed %b\n" total !allocs !words (!frees = !allocs)

let () =
  ignore (work 100_000);
  profile 1_000;
  ignore (work 100_000);
  profile 2_000;
  (match Gc.Memprof.stop () with
  | () -> print_endline "stopped twice"
  | exception Failure m -> Printf.printf "second stop: %s\n" m);
  ignore (work 100_000)
