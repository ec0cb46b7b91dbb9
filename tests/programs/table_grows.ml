(* A table to which entries are added, with garbage that has the collector run. Argument: entries. *)
(* libs: *)

let table : (int, string * float list) Hashtbl.t = Hashtbl.create 16

let () =
  for entry = 1 to int_of_string Sys.argv.(1) do
    Hashtbl.replace table entry (string_of_int entry ^ "abc", [ float entry; 2.; 3. ]);
    ignore (Sys.opaque_identity (List.init 60 string_of_int))
  done;
  Printf.printf "%d entries\n" (Hashtbl.length table)
