(* Callbacks that are registered and never removed, and ones that are. The argument is which. *)

let subscribed : (int * (int -> int)) list ref = ref []
let steps = 4_000
let subscribe step callback = subscribed := (step, callback) :: !subscribed
let callbacks : (int -> int) list ref = ref []

let open_ step =
  let buffer = Bytes.make 1_000 (Char.chr (step land 127)) in
  fun number -> Char.code (Bytes.get buffer (number mod 1_000))

let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 300 string_of_int)

let () =
  let sum = ref 0 in
  for step = 1 to steps do
    (match Sys.argv.(1) with
    | "leak" -> callbacks := open_ step :: !callbacks
    | "removed" ->
        subscribe step (open_ step);
        if step mod 100 = 0 then subscribed := List.filter (fun (at, _) -> at > step - 300) !subscribed
    | other -> failwith other);
    sum := !sum + work step
  done;
  let heard = List.fold_left (fun n callback -> n + callback steps) 0 !callbacks in
  let heard = List.fold_left (fun n (_, callback) -> n + callback steps) heard !subscribed in
  Printf.printf "%d %d\n" !sum heard
