(* A signal handler in C ends the process, at a moment that differs from run to run. Arguments: by _exit,
   after so many microseconds; or "storm", by exit, after so many signals. *)
(* libs: *)

external exit_after : int -> unit = "handler_exits_after"
external exit_in_a_storm : int -> unit = "handler_exits_in_a_storm"

let kept = ref []

let () =
  print_endline "begins";
  (match Sys.argv with
  | [| _; "storm"; signals |] -> exit_in_a_storm (int_of_string signals)
  | _ -> exit_after (int_of_string Sys.argv.(1)));
  while true do
    kept := [];
    for i = 1 to 1_000 do
      kept := string_of_int i :: !kept
    done
  done
