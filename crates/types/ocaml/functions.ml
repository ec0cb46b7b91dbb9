(* What closures hold: the free variables of functions that have a name, in the order in which the compiler
   without flambda puts them into the environment. *)

open Typedtree

type variable = { id : Ident.t; ty : Types.type_expr option }

(* What a unit defines that is not captured, as it is in the unit's block, or has no value. *)
let globals structure items =
  let known = Hashtbl.create 100 in
  let add id = Hashtbl.replace known (Ident.unique_name id) () in
  List.iter (fun (item : Layout.item) -> Option.iter add item.id) items;
  let absent sub item =
    (match item.str_desc with
    | Tstr_module { mb_id = Some id; mb_presence = Mp_absent; _ } -> add id
    | _ -> ());
    Tast_iterator.default_iterator.structure_item sub item
  in
  let iterator = { Tast_iterator.default_iterator with structure_item = absent } in
  iterator.structure iterator structure;
  known

(* The types of all variables that patterns in a structure bind. *)
let types_of_variables structure =
  let types = Hashtbl.create 1000 in
  let pat (type k) _ (pattern : k general_pattern) =
    List.iter (fun (id, ty) -> Hashtbl.replace types (Ident.unique_name id) ty) (Bound.of_pattern pattern)
  in
  let iterator = { Tast_iterator.default_iterator with pat } in
  iterator.structure iterator structure;
  types

let rec head (path : Path.t) =
  match path with
  | Pident id -> Some id
  | Pdot (path, _) -> head path
  | _ -> None

(* The variables that an expression uses and does not bind. *)
let free ~globals ~types expressions =
  let bound = Hashtbl.create 20 and used = Hashtbl.create 20 in
  let bind id = Hashtbl.replace bound (Ident.unique_name id) () in
  let use id ty = if not (Ident.global id) then Hashtbl.replace used (Ident.unique_name id) { id; ty } in
  let use_module path = Option.iter (fun id -> use id None) (head path) in
  let expr sub expression =
    (match expression.exp_desc with
    | Texp_ident (Pident id, _, { val_kind = Val_reg; _ }) ->
        use id (Hashtbl.find_opt types (Ident.unique_name id))
    | Texp_ident ((Pdot _ as path), _, { val_kind = Val_reg; _ }) -> use_module path
    | Texp_for (id, _, _, _, _, _) -> bind id
    | Texp_letmodule (Some id, _, _, _, _) -> bind id
    | Texp_letexception ({ ext_id; _ }, _) -> bind ext_id
    | Texp_letop { param; _ } -> bind param
    | _ -> ());
    (match Bound.parameters expression with
    | Some (parameters, _) -> List.iter bind parameters
    | None -> ());
    Tast_iterator.default_iterator.expr sub expression
  in
  let pat (type k) _ (pattern : k general_pattern) =
    List.iter (fun (id, _) -> bind id) (Bound.of_pattern pattern)
  in
  let module_expr sub me =
    (match me.mod_desc with
    | Tmod_ident (path, _) -> use_module path
    | Tmod_functor (Named (Some id, _, _), _) -> bind id
    | _ -> ());
    Tast_iterator.default_iterator.module_expr sub me
  in
  let structure_item sub item =
    List.iter
      (fun (item : Layout.item) -> Option.iter bind item.id)
      (Layout.defined_by ~inside:false Layout.top item);
    Tast_iterator.default_iterator.structure_item sub item
  in
  let iterator = { Tast_iterator.default_iterator with expr; pat; module_expr; structure_item } in
  List.iter (iterator.expr iterator) expressions;
  Hashtbl.fold
    (fun name variable found ->
      if Hashtbl.mem bound name || Hashtbl.mem globals name then found else variable :: found)
    used []
  |> List.sort (fun a b -> Ident.compare a.id b.id)

(* Between a unit's name and a function's in symbols. *)
let separator =
  match String.split_on_char '.' Sys.ocaml_version with
  | major :: minor :: _ when (int_of_string major, int_of_string minor) >= (5, 1) -> "."
  | _ -> "__"

let has_plain_name id =
  let is_plain = function 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' | '_' -> true | _ -> false in
  List.for_all is_plain (List.of_seq (String.to_seq (Ident.name id)))

let translate scope unit_name id arity variables =
  let context = Translate.context ~is_local:true scope in
  let variable { id; ty } = (Ident.name id, Option.map (Translate.term context) ty) in
  {
    Term.symbol = unit_name ^ separator ^ Ident.unique_name id;
    arity;
    environment = List.map variable variables;
  }

(* All functions of a unit that have an environment, but those in functors: their types differ from instance to
   instance. *)
let of_unit unit_name scope structure items =
  let globals = globals structure items and types = types_of_variables structure in
  let scope = ref scope in
  let within inner f =
    let outer = !scope in
    scope := inner;
    Fun.protect ~finally:(fun () -> scope := outer) f
  in
  let functions bindings =
    let named { vb_pat; vb_expr; _ } =
      match (Bound.of_pattern vb_pat, Bound.parameters vb_expr) with
      | [ (id, _) ], Some (_, arity) when has_plain_name id -> Some (id, arity, vb_expr)
      | _ -> None
    in
    List.filter_map named bindings
  in
  (* Those that are defined together share an environment, which does not have them. *)
  let add recursive bindings =
    let found = functions bindings in
    let groups = if recursive then [ found ] else List.map (fun one -> [ one ]) found in
    List.iter
      (fun group ->
        let is_own { id; _ } = recursive && List.exists (fun (own, _, _) -> Ident.same own id) group in
        let variables = free ~globals ~types (List.map (fun (_, _, body) -> body) group) in
        let variables = List.filter (fun variable -> not (is_own variable)) variables in
        if variables <> [] then
          List.iter
            (fun (id, arity, _) ->
              ignore (Term.push Term.functions (translate !scope unit_name id arity variables)))
            group)
      groups
  in
  let expr sub expression =
    (match expression.exp_desc with
    | Texp_let (recursive, bindings, _) -> add (recursive = Recursive) bindings
    | _ -> ());
    Tast_iterator.default_iterator.expr sub expression
  in
  let module_expr sub me =
    match me.mod_desc with
    | Tmod_functor _ -> ()
    | _ -> Tast_iterator.default_iterator.module_expr sub me
  in
  let structure_item sub item =
    let inside = function
      | Some (Scope.Structure inner) ->
          within inner (fun () -> Tast_iterator.default_iterator.structure_item sub item)
      | _ -> Tast_iterator.default_iterator.structure_item sub item
    in
    let anonymous structure =
      Option.bind structure (fun structure -> List.assq_opt structure !scope.anonymous)
      |> Option.map Evaluate.value_of
    in
    match item.str_desc with
    | Tstr_value (recursive, bindings) ->
        add (recursive = Recursive) bindings;
        inside None
    | Tstr_module { mb_id = Some id; mb_expr; _ } when Evaluate.structure_within mb_expr <> None -> (
        match Scope.find !scope id with
        | Some (Module value) -> inside (Some (Evaluate.value_of value))
        | _ -> inside None)
    | Tstr_include { incl_mod; _ } -> inside (anonymous (Evaluate.structure_within incl_mod))
    | Tstr_open { open_expr; _ } -> inside (anonymous (Evaluate.structure_within open_expr))
    (* Methods have environments of another kind. *)
    | Tstr_class _ -> ()
    | _ -> inside None
  in
  let iterator = { Tast_iterator.default_iterator with expr; module_expr; structure_item } in
  iterator.structure iterator structure
