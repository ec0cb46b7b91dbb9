(* Weak pointers whose values are gone, in a list that is never cleaned, and in one that is. The argument is which. *)

let watched : Bytes.t Weak.t list ref = ref []
let steps = 30_000
let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 60 string_of_int)

let watch step =
  let weak = Weak.create 8 in
  Weak.set weak 0 (Some (Bytes.make 50 (Char.chr (step land 127))));
  watched := weak :: !watched

let () =
  let sum = ref 0 in
  for step = 1 to steps do
    watch step;
    (match Sys.argv.(1) with
    | "leak" -> ()
    | "cleaned" ->
        if step mod 1_000 = 0 then watched := List.filter (fun weak -> Weak.check weak 0) !watched
    | other -> failwith other);
    sum := !sum + work step
  done;
  Printf.printf "%d\n" !sum
