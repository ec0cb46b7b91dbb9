(* wait(-1), SIGCHLD and ECHILD: a process that we would start behind the program's back would be
   counted here. *)
(* libs: unix *)

let () =
  let children = ref 0 in
  Sys.set_signal Sys.sigchld (Sys.Signal_handle (fun _ -> ignore (List.init 10 string_of_int); incr children));
  (match Unix.waitpid [ Unix.WNOHANG ] (-1) with
  | pid, _ -> Printf.printf "unexpected child %d\n" pid
  | exception Unix.Unix_error (Unix.ECHILD, _, _) -> print_endline "no child at start");
  ignore (List.init 200_000 string_of_int);
  Unix.sleepf 1.3;
  Printf.printf "SIGCHLD without children: %d\n%!" !children;
  for i = 1 to 5 do
    match Unix.fork () with 0 -> ignore (List.init 10_000 string_of_int); exit (10 + i) | _ -> ()
  done;
  let rec collect statuses =
    match Unix.wait () with
    | _, Unix.WEXITED n -> collect (n :: statuses)
    | _, _ -> collect (-1 :: statuses)
    | exception Unix.Unix_error (Unix.ECHILD, _, _) -> List.sort compare statuses
    | exception Unix.Unix_error (Unix.EINTR, _, _) -> collect statuses
  in
  let statuses = collect [] in
  Printf.printf "statuses %s\n" (String.concat " " (List.map string_of_int statuses));
  Printf.printf "SIGCHLD seen: %b\n" (!children > 0)
