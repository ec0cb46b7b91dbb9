(* A table that grows by each line of input, and an array that does not. *)

let sessions : (int, string) Hashtbl.t = Hashtbl.create 16
let recent = Array.make 1_000 ""

let rec serve first =
  for i = first to first + 4_999 do
    Hashtbl.replace sessions i (string_of_int i);
    recent.(i mod 1_000) <- string_of_int i
  done;
  print_endline "served";
  match input_line stdin with _ -> serve (first + 5_000) | exception End_of_file -> ()

let () = serve 0
