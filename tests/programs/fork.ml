(* fork without exec: the child goes on as an OCaml program of its own and exits 3; parent and
   child both allocate after the fork, and the parent sees the status. Grandchildren too. *)
(* libs: unix *)

let allocate n = List.length (List.init n (fun i -> (i, string_of_int i)))

let show = function
  | Unix.WEXITED n -> Printf.sprintf "exited %d" n
  | Unix.WSIGNALED n -> Printf.sprintf "signaled %d" n
  | Unix.WSTOPPED n -> Printf.sprintf "stopped %d" n

let () =
  Printf.printf "before %d\n%!" (allocate 20_000);
  (match Unix.fork () with
  | 0 ->
      at_exit (fun () -> print_endline "child at_exit"; flush stdout);
      Printf.printf "child %d\n%!" (allocate 30_000);
      (match Unix.fork () with
      | 0 -> Printf.printf "grandchild %d\n%!" (allocate 1_000); Unix.kill (Unix.getpid ()) Sys.sigkill
      | pid -> Printf.printf "grandchild %s\n%!" (show (snd (Unix.waitpid [] pid))));
      exit 3
  | pid ->
      let _, status = Unix.waitpid [] pid in
      Printf.printf "child %s\n%!" (show status));
  Printf.printf "after %d\n%!" (allocate 40_000);
  for i = 1 to 20 do
    match Unix.fork () with
    | 0 -> ignore (allocate (100 * i)); exit i
    | pid -> Printf.printf "%s\n%!" (show (snd (Unix.waitpid [] pid)))
  done;
  Printf.printf "end %d\n" (allocate 10_000)
