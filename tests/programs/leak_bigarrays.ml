(* Bigarrays that are kept, and ones that are dropped. The argument is which. *)

let kept = ref []
let steps = 1_500
let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 1_000 string_of_int)

let load step =
  let data = Bigarray.Array1.create Bigarray.char Bigarray.c_layout 20_000 in
  Bigarray.Array1.fill data (Char.chr (step land 127));
  data

let () =
  let sum = ref 0 in
  for step = 1 to steps do
    let data = load step in
    (match Sys.argv.(1) with
    | "leak" -> kept := data :: !kept
    | "dropped" -> kept := [ data ]
    | other -> failwith other);
    sum := !sum + work step
  done;
  Printf.printf "%d %d\n" !sum (List.length !kept)
