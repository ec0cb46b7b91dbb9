(* What changed between versions of the compiler's Typedtree: here as it is from OCaml 5.2 on. *)

open Typedtree

(* The identifiers that a [let] binds, with their names' positions and their types. *)
let of_bindings bindings : (Ident.t * string Asttypes.loc * Types.type_expr) list =
  List.map (fun (id, name, ty, _) -> (id, name, ty)) (let_bound_idents_full bindings)

(* The functor of an application to [()]. *)
let applied_to_unit me = match me.mod_desc with Tmod_apply_unit f -> Some f | _ -> None

(* The identifiers that a pattern binds, with their types. *)
let of_pattern (type k) (pattern : k general_pattern) : (Ident.t * Types.type_expr) list =
  List.map (fun (id, _, ty, _) -> (id, ty)) (pat_bound_idents_full pattern)

(* A function's parameters and how many arguments its code takes; [None] if an expression is none. *)
let parameters expression : (Ident.t list * int) option =
  let rec components : type k. k general_pattern -> int option =
   fun pattern ->
    match pattern.pat_desc with
    | Tpat_tuple parts -> Some (List.length parts)
    | Tpat_or (left, _, _) -> components left
    | _ -> None
  in
  let is_flat (pattern : pattern) =
    match pattern.pat_desc with Tpat_tuple _ | Tpat_any | Tpat_or _ -> true | _ -> false
  in
  match expression.exp_desc with
  | Texp_function (parameters, body) -> (
      let own = List.map (fun parameter -> parameter.fp_param) parameters in
      match (parameters, body) with
      | [], Tfunction_cases { param; cases = { c_lhs; _ } :: _ as cases; _ } -> (
          match components c_lhs with
          | Some count when List.for_all (fun { c_lhs; _ } -> is_flat c_lhs) cases ->
              Some ([ param ], count)
          | _ -> Some ([ param ], 1))
      | [ { fp_param; fp_kind = Tparam_pat pattern; _ } ], Tfunction_body _ -> (
          match components pattern with
          | Some count -> Some ([ fp_param ], count)
          | None -> Some ([ fp_param ], 1))
      | _, Tfunction_cases { param; _ } -> Some (own @ [ param ], List.length own + 1)
      | _, Tfunction_body _ -> Some (own, List.length own))
  | _ -> None
