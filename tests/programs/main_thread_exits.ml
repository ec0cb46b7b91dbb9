(* Its main thread ends first, by Thread.exit, the process with its last thread. With an argument the
   last thread waits for so many seconds. Not from OCaml 5 on, where Thread.exit raises an exception. *)
(* libs: unix threads *)

let kept = ref []

let worker () =
  Thread.delay (if Array.length Sys.argv > 1 then float_of_string Sys.argv.(1) else 0.3);
  for i = 1 to 200_000 do
    kept := string_of_int i :: !kept
  done;
  Printf.printf "worker %d\n%!" (List.length !kept)

let () =
  at_exit (fun () -> print_endline "at_exit");
  ignore (Thread.create worker ());
  print_endline "main ends";
  flush stdout;
  Thread.exit ()
