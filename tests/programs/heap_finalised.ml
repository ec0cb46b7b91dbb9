(* Values whose finalisers capture more than the values are. Called with a number, it clears that
   field and says how many words the collector has freed when all finalisers have run. *)

(* In small blocks: OCaml 5 counts words of its own with large ones. *)
let captured cells = Sys.opaque_identity (List.init cells Fun.id)
let value () = Sys.opaque_identity (List.init 4 Fun.id)

let held finalise cells =
  let value = value () and captured = captured cells in
  finalise captured value;
  ref (Some value)

let first captured = Gc.finalise (fun _ -> ignore (Sys.opaque_identity captured))
let last captured = Gc.finalise_last (fun () -> ignore (Sys.opaque_identity captured))

(* 5 *) let by_first = held first 1_000
(* 6 *) let by_last = held last 2_000

(* 7 *) let by_both =
  held
    (fun captured value ->
      first captured value;
      last (List.init 300 Fun.id) value)
    4_000

(* A chain: what the first captures has a finaliser of its own. *)
(* 8 *) let by_chain =
  held
    (fun captured value ->
      let between = List.init 77 Fun.id in
      last captured between;
      first between value)
    8_000

(* Its function keeps the value for good. *)
(* 9 *) let by_itself =
  held
    (fun captured value ->
      Gc.finalise (fun _ -> ignore (List.length value + List.length captured)) value)
    16_000

let field = function
  | "5" -> by_first
  | "6" -> by_last
  | "7" -> by_both
  | "8" -> by_chain
  | _ -> by_itself

let live () =
  for _ = 1 to 4 do
    Gc.full_major ()
  done;
  (Gc.stat ()).live_words

let () =
  if Array.length Sys.argv > 1 then begin
    let field = field Sys.argv.(1) in
    (* The first figures of a program are of more than later ones. *)
    ignore (live ());
    let before = live () in
    field := None;
    Printf.printf "%d\n" (before - live ())
  end
  else Gc.full_major ()
