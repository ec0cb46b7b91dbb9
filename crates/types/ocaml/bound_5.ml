(* What changed between versions of the compiler's Typedtree: here as it is from OCaml 5.2 on. *)

open Typedtree

(* The identifiers that a [let] binds, with their names' positions and their types. *)
let of_bindings bindings : (Ident.t * string Asttypes.loc * Types.type_expr) list =
  List.map (fun (id, name, ty, _) -> (id, name, ty)) (let_bound_idents_full bindings)

(* The identifiers that a pattern binds, with their types. *)
let of_pattern (type k) (pattern : k general_pattern) : (Ident.t * Types.type_expr) list =
  List.map (fun (id, _, ty, _) -> (id, ty)) (pat_bound_idents_full pattern)

(* A function's parameters with their types. *)
let parameters expression : (Ident.t * Types.type_expr) list =
  let own { fp_param; fp_kind; _ } =
    match fp_kind with
    | Tparam_pat pattern -> (fp_param, pattern.pat_type)
    | Tparam_optional_default (pattern, _) -> (fp_param, Predef.type_option pattern.pat_type)
  in
  match expression.exp_desc with
  | Texp_function (parameters, Tfunction_cases { param; cases = { c_lhs; _ } :: _; _ }) ->
      (param, c_lhs.pat_type) :: List.map own parameters
  | Texp_function (parameters, _) -> List.map own parameters
  | _ -> []
