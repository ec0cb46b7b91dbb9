(* Domains that all start samplers of their own at the same time, after work that we sample. Each
   counts its own allocations exactly. *)
(* libs: *)
(* from: 5.3 *)

let domains = 3

(* A cell of a domain that is not shared with others. *)
let count cell _ = incr cell; Some ()

let tracker cell freed =
  {
    Gc.Memprof.alloc_minor = count cell;
    alloc_major = count cell;
    promote = (fun () -> Some ());
    dealloc_minor = (fun () -> Atomic.incr freed);
    dealloc_major = (fun () -> Atomic.incr freed);
  }

let[@inline never] work n = for i = 1 to n do ignore (Sys.opaque_identity (ref i)) done

let ready = Atomic.make 0

let together n =
  Atomic.incr ready;
  while Atomic.get ready < n do Domain.cpu_relax () done

let failure f = match f () with () -> "none" | exception Failure m -> m

let run _ =
  let lines = Buffer.create 100 in
  work 100_000;
  Buffer.add_string lines (failure Gc.Memprof.stop);
  together domains;
  for round = 1 to 50 do
    let cell = ref 0 and freed = Atomic.make 0 in
    let profile = Gc.Memprof.start ~sampling_rate:1.0 ~callstack_size:3 (tracker cell freed) in
    work 200;
    Gc.Memprof.stop ();
    Buffer.add_string lines (Printf.sprintf " %d" !cell);
    if round mod 2 = 0 then Gc.Memprof.discard profile;
    if round mod 10 = 0 then Buffer.add_string lines (failure Gc.Memprof.stop);
    work 20_000
  done;
  Buffer.contents lines

let () =
  work 100_000;
  let others = List.init (domains - 1) (fun i -> Domain.spawn (fun () -> run (i + 1))) in
  let mine = run 0 in
  let lines = mine :: List.map Domain.join others in
  List.iter print_endline lines;
  print_endline (failure Gc.Memprof.stop);
  (* A domain that comes later has nothing running either. *)
  print_endline (Domain.join (Domain.spawn (fun () -> work 1000; failure Gc.Memprof.stop)))
