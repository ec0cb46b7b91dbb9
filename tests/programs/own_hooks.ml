(* Puts hooks of its own around the collector, which do not call what was there before, as Flow's workers do. *)

external take_hooks : unit -> unit = "take_hooks"
external counted : unit -> bool = "counted"

let kept = ref []

let () =
  take_hooks ();
  for i = 1 to 200 do
    kept := Array.make 100 i :: !kept;
    Gc.minor ()
  done;
  ignore (Gc.major_slice 1_000);
  Gc.full_major ();
  print_endline (if counted () then "counted" else "not counted")
