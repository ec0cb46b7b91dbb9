(* What changed between versions of the compiler's Typedtree: here as it was up to OCaml 5.1. *)

open Typedtree

(* The identifiers that a [let] binds, with their names' positions and their types. *)
let of_bindings bindings : (Ident.t * string Asttypes.loc * Types.type_expr) list =
  let_bound_idents_full bindings

(* The functor of an application to [()]: up to here, an application to an empty structure. *)
let applied_to_unit (_ : module_expr) : module_expr option = None
