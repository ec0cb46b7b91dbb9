(* What changed between versions of the compiler's Lambda: here as it was up to OCaml 4.14. *)

open Lambda

(* Functions that are defined together; [None] if some of the definitions are none. *)
let functions definitions : (Ident.t * lfunction) list option =
  let as_function = function id, Lfunction f -> Some (id, f) | _ -> None in
  let found = List.filter_map as_function definitions in
  if List.length found = List.length definitions then Some found else None

let find_interfaces_in folders = Load_path.init folders
