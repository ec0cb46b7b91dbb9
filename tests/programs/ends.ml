(* Every way for a process to end, by argument: `exit N`, `_exit N`, `raise`, `return`,
   `kill SIGNAL` (by its number), `overflow` (uncaught), `oom`, `thread` (uncaught in a thread). *)
(* libs: unix threads *)
(* from: 4.12 *)

let kept = ref []
let allocate () = for i = 1 to 50_000 do kept := (i, string_of_int i) :: !kept done

let rec forever n = 1 + forever (n + 1)

(* OCaml names signals by negative numbers of its own; these are Linux's. *)
let of_linux = function
  | 1 -> Sys.sighup | 2 -> Sys.sigint | 3 -> Sys.sigquit | 6 -> Sys.sigabrt | 8 -> Sys.sigfpe
  | 9 -> Sys.sigkill | 10 -> Sys.sigusr1 | 11 -> Sys.sigsegv | 12 -> Sys.sigusr2 | 13 -> Sys.sigpipe
  | 14 -> Sys.sigalrm | 15 -> Sys.sigterm | n -> n

let () =
  allocate ();
  print_endline "before";
  match Array.to_list Sys.argv |> List.tl with
  | [ "exit"; n ] -> exit (int_of_string n)
  | [ "_exit"; n ] ->
      flush stdout;
      Unix._exit (int_of_string n)
  | [ "raise" ] -> failwith "uncaught"
  | [ "return" ] -> ()
  | [ "kill"; n ] ->
      flush stdout;
      Unix.kill (Unix.getpid ()) (of_linux (int_of_string n));
      Unix.sleepf 0.5;
      print_endline "still here"
  | [ "overflow" ] -> Printf.printf "%d\n" (forever 0)
  | [ "oom" ] -> (
      match Bytes.create (max_int / 1024) with
      | b -> Printf.printf "%d\n" (Bytes.length b)
      | exception (Out_of_memory | Invalid_argument _) -> print_endline "out of memory caught")
  | [ "thread" ] ->
      let t = Thread.create (fun () -> allocate (); failwith "in a thread") () in
      Thread.join t;
      print_endline "joined"
  | _ -> prerr_endline "which end?"; exit 64
