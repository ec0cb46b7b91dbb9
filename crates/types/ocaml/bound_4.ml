(* What changed between versions of the compiler's Typedtree: here as it was up to OCaml 5.1. *)

open Typedtree

(* The identifiers that a [let] binds, with their names' positions and their types. *)
let of_bindings bindings : (Ident.t * string Asttypes.loc * Types.type_expr) list =
  let_bound_idents_full bindings

(* The functor of an application to [()]: up to here, an application to an empty structure. *)
let applied_to_unit (_ : module_expr) : module_expr option = None

(* The identifiers that a pattern binds, with their types. *)
let of_pattern (type k) (pattern : k general_pattern) : (Ident.t * Types.type_expr) list =
  List.map (fun (id, _, ty) -> (id, ty)) (pat_bound_idents_full pattern)

(* A function's parameters and how many arguments its code takes; [None] if an expression is none. *)
let parameters expression : (Ident.t list * int) option =
  let rec curried expression =
    match expression.exp_desc with
    | Texp_function { param; cases = [ { c_guard = None; c_rhs; _ } ]; _ } ->
        let inner, arity = curried c_rhs in
        (param :: inner, arity + 1)
    | Texp_function { param; _ } -> ([ param ], 1)
    | _ -> ([], 0)
  in
  let rec components pattern =
    match pattern.pat_desc with
    | Tpat_tuple parts -> Some (List.length parts)
    | Tpat_or (left, _, _) -> components left
    | _ -> None
  in
  match expression.exp_desc with
  | Texp_function { param; cases = { c_lhs; _ } :: _ as cases; _ } -> (
      let is_flat { c_lhs; _ } =
        match c_lhs.pat_desc with Tpat_tuple _ | Tpat_any | Tpat_or _ -> true | _ -> false
      in
      match components c_lhs with
      | Some count when List.for_all is_flat cases -> Some ([ param ], count)
      | _ -> Some (curried expression))
  | Texp_function _ -> Some (curried expression)
  | _ -> None
