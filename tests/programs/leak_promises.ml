(* Promises of Lwt that are never resolved, and ones that are. The argument is which. *)

open Lwt.Infix

let waiting : Bytes.t Lwt.u list ref = ref []
let steps = 5_000
let heard = ref 0
let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 200 string_of_int)

let request step =
  let answer, resolver = Lwt.wait () in
  let buffer = Bytes.make 700 (Char.chr (step land 127)) in
  waiting := resolver :: !waiting;
  Lwt.on_success answer (fun bytes -> heard := !heard + Bytes.length bytes + Bytes.length buffer)

let rec serve sum step =
  if step = steps then Lwt.return sum
  else begin
    request step;
    (match Sys.argv.(1) with
    | "leak" -> ()
    | "resolved" ->
        if step mod 100 = 0 then begin
          let all = !waiting in
          waiting := [];
          List.iter (fun resolver -> Lwt.wakeup_later resolver (Bytes.create 3)) all
        end
    | other -> failwith other);
    Lwt.pause () >>= fun () -> serve (sum + work step) (step + 1)
  end

let () =
  let sum = Lwt_main.run (serve 0 0) in
  Printf.printf "%d %d\n" sum !heard
