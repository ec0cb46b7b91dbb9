(* Children started in every way the Unix library has; they are other programs and must be as they
   would be without us: same output, same status, no variable of ours in their environment. *)
(* libs: unix *)

let show = function
  | Unix.WEXITED n -> Printf.sprintf "exited %d" n
  | Unix.WSIGNALED n -> Printf.sprintf "signaled %d" n
  | Unix.WSTOPPED n -> Printf.sprintf "stopped %d" n

let allocate n = ignore (List.init n string_of_int)

let () =
  allocate 30_000;
  Printf.printf "system %d\n%!" (Sys.command "exit 6");
  Printf.printf "system %s\n%!" (show (Unix.system "kill -TERM $$"));
  let pid = Unix.create_process "sh" [| "sh"; "-c"; "echo created; exit 9" |] Unix.stdin Unix.stdout Unix.stderr in
  Printf.printf "create_process %s\n%!" (show (snd (Unix.waitpid [] pid)));
  let ic = Unix.open_process_in "env | sort | grep -v ^_=; ls /proc/self/fd | wc -l" in
  (try
     while true do
       print_endline (input_line ic)
     done
   with End_of_file -> ());
  Printf.printf "open_process_in %s\n%!" (show (Unix.close_process_in ic));
  let ic, oc = Unix.open_process "cat" in
  for i = 1 to 1_000 do
    output_string oc (string_of_int i ^ "\n")
  done;
  close_out oc;
  let n = ref 0 in
  (try
     while true do
       ignore (input_line ic);
       incr n
     done
   with End_of_file -> ());
  Printf.printf "open_process %d %s\n%!" !n (show (Unix.close_process (ic, oc)));
  let missing =
    match Unix.create_process "/nonexistent/program" [| "x" |] Unix.stdin Unix.stdout Unix.stderr with
    | pid -> show (snd (Unix.waitpid [] pid))
    | exception Unix.Unix_error (e, _, _) -> Unix.error_message e
  in
  Printf.printf "missing: %s\n%!" missing;
  allocate 30_000
