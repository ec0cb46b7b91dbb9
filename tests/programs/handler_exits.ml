(* A signal handler in C ends the process by _exit, at a moment that differs from run to run. Argument:
   microseconds to the signal. *)
(* libs: *)

external exit_after : int -> unit = "handler_exits_after"

let kept = ref []

let () =
  print_endline "begins";
  exit_after (int_of_string Sys.argv.(1));
  while true do
    kept := [];
    for i = 1 to 1_000 do
      kept := string_of_int i :: !kept
    done
  done
