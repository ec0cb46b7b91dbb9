(* Lines that Lwt_io reads from its event loop, kept by closures that never run, and dropped. The argument is which. *)

open Lwt.Infix

let steps = 3_000
let kept : (unit -> int) list ref = ref []
let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 300 string_of_int)
let keep line = kept := (fun () -> String.length line) :: !kept

let rec serve input output sum step =
  if step = steps then Lwt.return sum
  else
    (* There is nothing to read yet: the line is allocated when the event loop finds it. *)
    let reading = Lwt_io.read_line input in
    let text = String.make 1_000 (Char.chr (65 + (step mod 26))) in
    Lwt_io.write_line output text >>= fun () ->
    Lwt_io.flush output >>= fun () ->
    reading >>= fun line ->
    (match Sys.argv.(1) with
    | "leak" -> keep line
    | "dropped" -> ()
    | other -> failwith other);
    serve input output (sum + work step + String.length line) (step + 1)

let () =
  let input, output = Lwt_io.pipe () in
  let sum = Lwt_main.run (serve input output 0 0) in
  Printf.printf "%d %d\n" sum (List.length !kept)
