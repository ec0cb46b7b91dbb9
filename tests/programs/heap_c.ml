(* Values that C code holds, each an array of its own length: 201 words by an exported variable, 202 by a
   static one, 203 by allocated memory, 204 by a hook, 205 by a name, 206 by a variable of the C function
   that calls back. Prints its number and waits for a line. *)
(* libs: unix *)

external keep_in_exported : int array -> unit = "keep_in_exported"
external keep_in_static : int array -> unit = "keep_in_static"
external keep_in_allocated : int array -> unit = "keep_in_allocated"
external keep_by_hook : int array -> unit = "keep_by_hook"
external call_back : int array -> (unit -> unit) -> int = "call_back"

let () =
  keep_in_exported (Array.make 201 1);
  keep_in_static (Array.make 202 1);
  keep_in_allocated (Array.make 203 1);
  keep_by_hook (Array.make 204 1);
  Callback.register "the array" (Array.make 205 1);
  let wait () =
    Printf.printf "%d\n%!" (Unix.getpid ());
    ignore (input_line stdin)
  in
  print_endline (string_of_int (call_back (Array.make 206 1) wait))
