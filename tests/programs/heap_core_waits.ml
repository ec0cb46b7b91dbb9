(* Waits in the ways that a stop could disturb: `sleep` and `select` to their ends, for a child's end, for a timer's signals.
   Prints "ready" first, then what each call gave: only a signal of the timer may end one early. *)
(* libs: unix *)

let ticks = ref 0

let waits seconds wait =
  let start = Unix.gettimeofday () in
  (try wait () with Unix.Unix_error (error, call, _) ->
    Printf.printf "%s: %s\n%!" call (Unix.error_message error));
  if Unix.gettimeofday () -. start < seconds then print_endline "ended early"

let rec reap child known =
  match Unix.waitpid [] (-1) with
  | pid, Unix.WEXITED code when pid = child ->
    Printf.printf "the child ended with %d\n%!" code;
    reap child (known + 1)
  | _ -> reap child (known + 1)
  | exception Unix.Unix_error (Unix.ECHILD, _, _) -> known

let () =
  print_endline "ready";
  waits 0.4 (fun () -> Unix.sleepf 0.4);
  waits 0.4 (fun () -> ignore (Unix.select [] [] [] 0.4));
  let child = Unix.fork () in
  if child = 0 then begin
    Unix.sleepf 0.4;
    Unix._exit 7
  end;
  Printf.printf "%d child\n%!" (reap child 0);
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> incr ticks));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.04; it_value = 0.04 });
  while !ticks < 10 do
    try ignore (Unix.select [] [] [] 10.) with Unix.Unix_error (Unix.EINTR, _, _) -> ()
  done;
  print_endline "ten ticks";
  exit 3
