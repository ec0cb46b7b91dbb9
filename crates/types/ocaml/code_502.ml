(* What changed between versions of the compiler's Lambda: here as it is from OCaml 5.2 on. *)

open Lambda

(* Functions that are defined together. *)
let functions definitions : (Ident.t * lfunction) list option =
  Some (List.map (fun { id; def } -> (id, def)) definitions)

let find_interfaces_in folders =
  Load_path.init ~auto_include:Load_path.no_auto_include ~visible:folders ~hidden:[]
