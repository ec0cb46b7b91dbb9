(* Fibers that are suspended and never continued, and ones that are. The argument is which. OCaml 5. *)
(* from: 5.0 *)

open Effect
open Effect.Deep

type _ Effect.t += Wait : int Effect.t

let waiting : (int, unit) continuation list ref = ref []
let steps = 4_000
let heard = ref 0

let serve step =
  let buffer = Bytes.make 1_000 (Char.chr (step land 127)) in
  let number = perform Wait in
  heard := !heard + Char.code (Bytes.get buffer number)

let start step =
  match_with serve step
    {
      retc = Fun.id;
      exnc = raise;
      effc =
        (fun (type a) (eff : a Effect.t) ->
          match eff with
          | Wait -> Some (fun (k : (a, unit) continuation) -> waiting := k :: !waiting)
          | _ -> None);
    }

let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 300 string_of_int)

let () =
  let sum = ref 0 in
  for step = 1 to steps do
    start step;
    (match Sys.argv.(1) with
    | "leak" -> ()
    | "continued" ->
        if step mod 100 = 0 then begin
          let all = !waiting in
          waiting := [];
          List.iter (fun k -> continue k 7) all
        end
    | other -> failwith other);
    sum := !sum + work step
  done;
  Printf.printf "%d %d\n" !sum !heard
