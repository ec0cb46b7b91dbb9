(* Tables, finalisers, weak pointers and named exceptions; prints what is live after a full collection, as the runtime
   counts it, then waits for a line. *)

exception Named of int

let kept : (int, string list) Hashtbl.t = Hashtbl.create 16
let large = Array.make 5_000 "large"
let weak = Weak.create 2
(* Values that have finalisers, and live. *)
let watched = Array.make 77 0
let watched_last = Array.make 400 0
let last () = print_string "last"
let first (_ : int array) = print_string "first"

let fill n =
  for i = 1 to n do
    Hashtbl.replace kept i (List.init (i mod 17) string_of_int)
  done

(* Values that live in frames alone. *)
let rec deep n =
  if n = 0 then begin
    Gc.full_major ();
    let s = Gc.stat () in
    Printf.printf "%d %d\n%!" s.Gc.live_blocks s.Gc.live_words;
    ignore (input_line stdin);
    0
  end
  else
    let mine = List.init n string_of_int in
    let below = deep (n - 1) in
    below + List.length (Sys.opaque_identity mine)

let () =
  fill 2_000;
  for i = 1 to 1_000 do Hashtbl.remove kept i done;
  Gc.finalise first watched;
  Gc.finalise_last last watched_last;
  Weak.set weak 0 (Some large);
  Callback.register_exception "a named exception" (Named 0);
  Callback.register "a named value" (Array.make 205 1);
  (* Bytecode: with a handler on the stack, variables of the module had no names. *)
  try print_int (deep 10) with Exit -> print_string "exit"
