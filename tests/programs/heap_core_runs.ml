(* Runs OCaml code for ever: prints the words of a table, as the runtime counts them, then computes without allocating, or
   with an argument, with short lists. *)

let table = Array.init 3_000 string_of_int

let rec compute x = if x < 0 then x else compute ((x * 1103515245) land 0xffffff)

let rec allocate n list =
  if n = 0 then List.length list else allocate (n - 1) (if n mod 100 = 0 then [] else n :: list)

let () =
  Gc.full_major ();
  Printf.printf "%d\n%!" (Obj.reachable_words (Obj.repr table));
  if Array.length Sys.argv > 1 then
    while true do ignore (Sys.opaque_identity (allocate 100_000 [])) done
  else ignore (Sys.opaque_identity (compute 1))
