(* Written for memtrace, but for one name. *)

module Memtrace = Memtrail

let kept = ref []

let () =
  Memtrace.trace_if_requested ~context:"a context" ~sampling_rate:1e-2 ();
  for i = 1 to 100_000 do
    kept := (i, i) :: !kept
  done;
  let tracer = Memtrace.start_tracing ~context:None ~sampling_rate:1e-3 ~filename:"other.ctf" in
  ignore (Memtrace.External.alloc ~bytes:100);
  Memtrace.stop_tracing tracer;
  Array.iteri (fun i argument -> if i > 0 then print_endline argument) Sys.argv;
  Printf.printf "MEMTRACE is %S\n" (Option.value (Sys.getenv_opt "MEMTRACE") ~default:"unset")
