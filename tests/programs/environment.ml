(* What a program can see of how it was started: arguments, environment (in order), name, working
   folder, session, umask, signal mask, nice value, limits. *)
(* libs: unix *)

let lines file =
  let ic = open_in file in
  let rec go acc = match input_line ic with l -> go (l :: acc) | exception End_of_file -> close_in ic; List.rev acc in
  go []

let () =
  ignore (List.init 30_000 string_of_int);
  Array.iteri (fun i a -> Printf.printf "argv %d %S\n" i a) Sys.argv;
  Array.iter (fun v -> Printf.printf "env %S\n" v) (Unix.environment ());
  Printf.printf "LD_PRELOAD %s\n" (match Sys.getenv_opt "LD_PRELOAD" with None -> "unset" | Some v -> v);
  Printf.printf "executable %s\n" Sys.executable_name;
  Printf.printf "cwd %s\n" (Sys.getcwd ());
  let mask = Unix.umask 0 in
  Printf.printf "umask %03o\n" mask;
  let stat = String.split_on_char ' ' (List.hd (lines "/proc/self/stat")) in
  Printf.printf "leads its session %b\n" (Unix.getpid () = int_of_string (List.nth stat 5));
  Printf.printf "nice %d\n" (Unix.nice 0);
  List.iter
    (fun l ->
      match String.split_on_char '\t' l with
      | [ (("SigBlk:" | "SigIgn:" | "SigPnd:" | "ShdPnd:") as name); mask ] ->
          (* 32 and 33 belong to the C library, which resets them when there are threads. *)
          Printf.printf "%s %Lx\n" name
            (Int64.logand (Int64.of_string ("0x" ^ mask)) (Int64.lognot 0x1_8000_0000L))
      | [ ("NoNewPrivs:" | "Seccomp:" | "CapEff:"); _ ] -> print_endline l
      | _ -> ())
    (lines "/proc/self/status");
  List.iter print_endline (lines "/proc/self/limits");
  (* A child gets what we got. *)
  flush stdout;
  ignore (Sys.command "env | grep -v '^_=' | sort")
