(* What changed between versions of the compiler's Typedtree: here as it was up to OCaml 5.1. *)

open Typedtree

(* The identifiers that a [let] binds, with their names' positions and their types. *)
let of_bindings bindings : (Ident.t * string Asttypes.loc * Types.type_expr) list =
  let_bound_idents_full bindings

(* The identifiers that a pattern binds, with their types. *)
let of_pattern (type k) (pattern : k general_pattern) : (Ident.t * Types.type_expr) list =
  List.map (fun (id, _, ty) -> (id, ty)) (pat_bound_idents_full pattern)

(* A function's first parameter with its type; others are those of the function that it results in. *)
let parameters expression : (Ident.t * Types.type_expr) list =
  match expression.exp_desc with
  | Texp_function { param; cases = { c_lhs; _ } :: _; _ } -> [ (param, c_lhs.pat_type) ]
  | _ -> []
