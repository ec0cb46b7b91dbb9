(* A server that daemonises at start (double fork, setsid, standard streams to /dev/null) and then
   does its work for SECONDS: the recording must follow it. It writes its pid and, when done, its
   result to FILE. Arguments: FILE SECONDS. *)
(* libs: unix *)

let write file text =
  let temporary = file ^ ".new" in
  let out = open_out temporary in
  output_string out text;
  close_out out;
  Unix.rename temporary file

let () =
  let file = Sys.argv.(1) and seconds = float_of_string Sys.argv.(2) in
  print_endline "starting";
  flush stdout;
  if Unix.fork () <> 0 then exit 0;
  ignore (Unix.setsid ());
  if Unix.fork () <> 0 then exit 0;
  Unix.chdir "/";
  let null = Unix.openfile "/dev/null" [ Unix.O_RDWR ] 0 in
  List.iter (fun fd -> Unix.dup2 null fd) [ Unix.stdin; Unix.stdout; Unix.stderr ];
  Unix.close null;
  write file (Printf.sprintf "pid %d\n" (Unix.getpid ()));
  let until = Unix.gettimeofday () +. seconds in
  let kept = ref [] in
  while Unix.gettimeofday () < until do
    for i = 1 to 10_000 do
      kept := (i, string_of_int i) :: !kept
    done;
    Unix.sleepf 0.01;
    if List.length !kept > 200_000 then kept := []
  done;
  write file (Printf.sprintf "pid %d\ndone\n" (Unix.getpid ()))
