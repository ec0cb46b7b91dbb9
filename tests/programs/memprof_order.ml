(* Start and stop in every order, legal or not. At rate 1 counts are exact. *)
(* libs: *)

let allocs = ref 0
let count _ = incr allocs; None

let tracker =
  {
    Gc.Memprof.alloc_minor = count;
    alloc_major = count;
    promote = (fun () -> None);
    dealloc_minor = ignore;
    dealloc_major = ignore;
  }

let[@inline never] work n = for i = 1 to n do ignore (Sys.opaque_identity (ref i)) done

let attempt what f =
  match f () with
  | () -> Printf.printf "%s: done, %d allocations seen\n" what !allocs
  | exception Failure m -> Printf.printf "%s: Failure %s\n" what m
  | exception Invalid_argument m -> Printf.printf "%s: Invalid_argument %s\n" what m

let start rate () = ignore (Gc.Memprof.start ~sampling_rate:rate ~callstack_size:5 tracker)
let stop = Gc.Memprof.stop

let () =
  work 50_000;
  attempt "stop" stop;
  attempt "start 2" (start 2.0);
  attempt "stop" stop;
  attempt "start 1" (start 1.0);
  work 1000;
  attempt "start 1 again" (start 1.0);
  work 1000;
  attempt "stop" stop;
  work 1000;
  attempt "stop again" stop;
  attempt "start 0" (start 0.0);
  work 1000;
  attempt "stop" stop;
  for i = 1 to 20 do
    attempt (Printf.sprintf "start %d" i) (start 1.0);
    work 10;
    attempt (Printf.sprintf "stop %d" i) stop;
    work 10_000;
    Gc.full_major ()
  done
