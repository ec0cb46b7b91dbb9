(* What changed between versions of the compiler's Typedtree: here as it was up to OCaml 5.1. *)

open Typedtree

(* The identifiers that a [let] binds, with their names' positions and their types. *)
let of_bindings bindings : (Ident.t * string Asttypes.loc * Types.type_expr) list =
  let_bound_idents_full bindings
