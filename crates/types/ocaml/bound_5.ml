(* What changed between versions of the compiler's Typedtree: here as it is from OCaml 5.2 on. *)

open Typedtree

(* The identifiers that a [let] binds, with their names' positions and their types. *)
let of_bindings bindings : (Ident.t * string Asttypes.loc * Types.type_expr) list =
  List.map (fun (id, name, ty, _) -> (id, name, ty)) (let_bound_idents_full bindings)

(* The functor of an application to [()]. *)
let applied_to_unit me = match me.mod_desc with Tmod_apply_unit f -> Some f | _ -> None
