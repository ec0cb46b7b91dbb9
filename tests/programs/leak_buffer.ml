(* A log in a buffer that is never cleared, and two that look like it: one that is written out and cleared, one that is
   filled at the start. The argument is which. *)

let log = Buffer.create 1024
let steps = 6_000
let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 300 string_of_int)
let note step = Buffer.add_string log (String.make 700 (Char.chr (step land 127)))

let () =
  let sum = ref 0 and written = ref 0 in
  for step = 1 to steps do
    (match Sys.argv.(1) with
    | "leak" -> note step
    | "filled" -> if step <= steps / 5 then note step
    | "cleared" ->
        note step;
        if step mod (steps / 5) = 0 then (
          written := !written + Buffer.length log;
          Buffer.clear log)
    | other -> failwith other);
    sum := !sum + work step
  done;
  Printf.printf "%d %d\n" !sum (!written + Buffer.length log)
