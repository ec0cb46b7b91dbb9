(* Finalisers whose closure refers to the value, so that they never run, and ones that run. The argument is which. *)

let steps = 4_000
let closed = ref 0
let close file = closed := !closed + Bytes.length file
let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 300 string_of_int)

let open_ step =
  let file = Bytes.make 1_000 (Char.chr (step land 127)) in
  match Sys.argv.(1) with
  | "leak" -> Gc.finalise (fun _ -> close file) file
  | "closed" -> Gc.finalise close file
  | other -> failwith other

let () =
  let sum = ref 0 in
  for step = 1 to steps do
    open_ step;
    sum := !sum + work step
  done;
  Printf.printf "%d\n" !sum
