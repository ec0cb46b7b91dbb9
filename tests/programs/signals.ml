(* Signal handlers that allocate, interval timers, signals sent to itself, blocked and pending
   signals, all as without us. Every catchable signal is tried, real-time numbers excepted. *)
(* libs: unix *)

let ticks = ref 0
let log = Buffer.create 100

let () =
  Sys.set_signal Sys.sigalrm
    (Sys.Signal_handle
       (fun _ ->
         ignore (List.init 100 string_of_int);
         incr ticks));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.005; it_value = 0.005 });
  let sink = ref [] in
  while !ticks < 20 do
    sink := List.init 50 (fun i -> (i, !ticks))
  done;
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = 0. });
  ignore !sink;
  print_endline "ticked";
  List.iter
    (fun (name, s) ->
      let seen = ref false in
      let old = Sys.signal s (Sys.Signal_handle (fun _ -> Buffer.add_string log name; seen := true)) in
      (match old with
      | Sys.Signal_default -> Buffer.add_string log "d:"
      | Sys.Signal_ignore -> Buffer.add_string log "i:"
      | Sys.Signal_handle _ -> Buffer.add_string log "h:");
      Unix.kill (Unix.getpid ()) s;
      let junk = ref [] in
      while not !seen do
        junk := [ String.make 10 'x' ]
      done;
      ignore !junk;
      Sys.set_signal s old;
      Buffer.add_char log ' ')
    [
      ("hup", Sys.sighup); ("int", Sys.sigint); ("quit", Sys.sigquit); ("usr1", Sys.sigusr1);
      ("usr2", Sys.sigusr2); ("term", Sys.sigterm); ("pipe", Sys.sigpipe); ("vtalrm", Sys.sigvtalrm);
      ("prof", Sys.sigprof); ("chld", Sys.sigchld); ("cont", Sys.sigcont); ("tstp", Sys.sigtstp);
      ("urg", Sys.sigurg); ("xcpu", Sys.sigxcpu); ("xfsz", Sys.sigxfsz); ("poll", Sys.sigpoll);
      ("sys", Sys.sigsys); ("trap", Sys.sigtrap); ("ttin", Sys.sigttin); ("ttou", Sys.sigttou);
      ("bus", Sys.sigbus);
    ];
  print_endline (Buffer.contents log);
  let blocked = Unix.sigprocmask Unix.SIG_BLOCK [ Sys.sigusr1 ] in
  Printf.printf "blocked before %d\n" (List.length blocked);
  let seen = ref 0 in
  Sys.set_signal Sys.sigusr1 (Sys.Signal_handle (fun _ -> incr seen));
  Unix.kill (Unix.getpid ()) Sys.sigusr1;
  ignore (List.init 100_000 string_of_int);
  Printf.printf "seen while blocked %d pending %d\n" !seen (List.length (Unix.sigpending ()));
  ignore (Unix.sigprocmask Unix.SIG_UNBLOCK [ Sys.sigusr1 ]);
  let junk = ref [] in
  while !seen = 0 do
    junk := [ String.make 10 'x' ]
  done;
  ignore !junk;
  Printf.printf "seen %d\n" !seen;
  (* A signal interrupts a sleep once, and only once. *)
  let interrupted = ref 0 in
  Sys.set_signal Sys.sigalrm (Sys.Signal_handle (fun _ -> ()));
  ignore (Unix.setitimer Unix.ITIMER_REAL { Unix.it_interval = 0.; it_value = 0.05 });
  (try ignore (Unix.select [] [] [] 1.0) with Unix.Unix_error (Unix.EINTR, _, _) -> incr interrupted);
  Printf.printf "interrupted %d\n" !interrupted
