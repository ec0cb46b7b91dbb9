(* Channels that are never closed, and ones that are. The argument is which, and how much the program
   does beside. *)

let opened : (int, in_channel) Hashtbl.t = Hashtbl.create 16
let steps = 300
let beside = if Array.length Sys.argv > 2 then int_of_string Sys.argv.(2) else 5

let work step =
  List.fold_left (fun sum text -> sum + String.length text) step (List.init 2_000 string_of_int)

let serve step =
  let channel = open_in "/dev/null" in
  match Sys.argv.(1) with
  | "leak" -> Hashtbl.replace opened step channel
  | "closed" ->
      Hashtbl.replace opened step channel;
      Option.iter close_in (Hashtbl.find_opt opened (step - 20));
      Hashtbl.remove opened (step - 20)
  | other -> failwith other

let () =
  let sum = ref 0 in
  for step = 1 to steps do
    serve step;
    for _ = 1 to beside do
      sum := !sum + work step
    done
  done;
  Printf.printf "%d %d\n" !sum (Hashtbl.length opened)
