(* Where functions with a name begin, which debuggers' tables have, too: for each unit, under the names with numbers
   that their symbols have, in the order of the source. *)

open Typedtree

let units : (string * (string * Location.t) list) Term.rows = Term.rows ()

let rec functor_in me =
  match me.mod_desc with
  | Tmod_functor _ -> Some me.mod_loc
  | Tmod_constraint (inner, _, _, _) -> functor_in inner
  | _ -> None

let of_structure structure =
  let found = ref [] in
  let add id location = found := (Functions.escaped (Ident.unique_name id), location) :: !found in
  let value_binding sub binding =
    (match (Bound.of_pattern binding.vb_pat, binding.vb_expr.exp_desc) with
    | [ (id, _) ], Texp_function _ -> add id binding.vb_expr.exp_loc
    | _ -> ());
    Tast_iterator.default_iterator.value_binding sub binding
  in
  let module_binding sub binding =
    (match (binding.mb_id, functor_in binding.mb_expr) with
    | Some id, Some location -> add id location
    | _ -> ());
    Tast_iterator.default_iterator.module_binding sub binding
  in
  let iterator = { Tast_iterator.default_iterator with value_binding; module_binding } in
  iterator.structure iterator structure;
  List.rev !found

let add_unit name structure =
  match of_structure structure with
  | [] -> ()
  | functions -> ignore (Term.push units (name, functions))
