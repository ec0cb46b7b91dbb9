(* Loads native plugins at run time: their code and frame tables appear after we started.
   Arguments: the .cmxs files. *)
(* libs: dynlink *)

let () =
  ignore (List.init 10_000 string_of_int);
  for i = 1 to Array.length Sys.argv - 1 do
    match Dynlink.loadfile Sys.argv.(i) with
    | () -> ()
    | exception Dynlink.Error e -> print_endline (Dynlink.error_message e); exit 1
  done;
  List.iter (fun (name, f) -> Printf.printf "%s %d\n" name (f 50_000)) !Registry.functions
