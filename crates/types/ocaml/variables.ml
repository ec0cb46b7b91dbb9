(* The types of the variables that a unit's code binds. *)

open Typedtree

type holds =
  | Value of Types.type_expr
  | Module of Types.module_type
  | Nothing_known

type t = { id : Ident.t; holds : holds; scope : Scope.t }

(* What a functor's body means where its argument is not known; [path] is what the functor makes. *)
let functor_body scope path parameter body =
  let inner = Scope.create ~up:scope path in
  (match parameter with
  | Named (Some id, _, declared) ->
      Evaluate.bind_parameter inner id declared.mty_type (Unknown "no argument")
  | _ -> ());
  if Evaluate.structure_within body = None then inner
  else
    match Evaluate.of_expression inner path body with
    | Structure body -> body
    | Functor _ | Unknown _ -> inner

(* By their unique names. Calls [each_item] with the items of all structures inside, and the scopes that they are in. *)
let of_structure ?(each_item = fun _ _ -> ()) scope structure =
  let found : (string, t) Hashtbl.t = Hashtbl.create 1000 in
  let scope = ref scope and path = ref "" in
  let within inner f =
    let outer = !scope in
    scope := inner;
    Fun.protect ~finally:(fun () -> scope := outer) f
  in
  let add id holds = Hashtbl.replace found (Ident.unique_name id) { id; holds; scope = !scope } in
  (* A pattern may unpack a first-class module, which types of other variables then speak of. *)
  let unpack scope id ty =
    match Type_view.view ty with
    | Package (path, constraints) ->
        let value () =
          let module_type = Evaluate.module_type_at scope path in
          Evaluate.of_package ~is_parameter:true scope module_type constraints
        in
        Hashtbl.replace scope.Scope.idents (Ident.unique_name id) (Module (lazy (value ())))
    | _ -> ()
  in
  let pat (type k) sub (pattern : k general_pattern) =
    List.iter
      (fun (id, ty) ->
        unpack !scope id ty;
        add id (Value ty))
      (Bound.of_pattern pattern)
  in
  let expr sub expression =
    (match expression.exp_desc with
    | Texp_for (id, _, _, _, _, _) -> add id (Value Predef.type_int)
    | _ -> ());
    List.iter (fun (id, ty) -> add id (Value ty)) (Bound.parameters expression);
    Tast_iterator.default_iterator.expr sub expression
  in
  let module_expr sub me =
    let inside () = Tast_iterator.default_iterator.module_expr sub me in
    match me.mod_desc with
    | Tmod_functor (parameter, body) ->
        path := !path ^ "(_)";
        within (functor_body !scope !path parameter body) (fun () ->
            (match parameter with
            | Named (Some id, _, declared) -> add id (Module declared.mty_type)
            | _ -> ());
            inside ())
    | _ -> inside ()
  in
  let structure_item sub item =
    each_item !scope item;
    let inside () = Tast_iterator.default_iterator.structure_item sub item in
    let inside_of value =
      match Option.map Evaluate.value_of value with
      | Some (Scope.Structure inner) -> within inner inside
      | _ -> inside ()
    in
    let anonymous me =
      Option.bind (Evaluate.structure_within me) (fun structure ->
          List.assq_opt structure !scope.anonymous)
    in
    let add_item (item : Layout.item) =
      match (item.id, item.content) with
      | Some id, Value_of ty -> add id (Value ty)
      | Some id, Module_of meaning -> add id (Module meaning)
      | Some id, _ -> add id Nothing_known
      | None, _ -> ()
    in
    (path :=
       match item.str_desc with
       | Tstr_module { mb_id = Some id; _ } -> Scope.name_in !scope (Ident.name id)
       | _ -> !scope.path);
    List.iter add_item (Layout.defined_by ~inside:false Layout.top item);
    match item.str_desc with
    | Tstr_module { mb_id = Some id; mb_expr; _ } when Evaluate.structure_within mb_expr <> None -> (
        match Scope.find !scope id with
        | Some (Module value) -> inside_of (Some value)
        | _ -> inside ())
    | Tstr_include { incl_mod; _ } -> inside_of (anonymous incl_mod)
    | Tstr_open { open_expr; _ } -> inside_of (anonymous open_expr)
    | _ -> inside ()
  in
  let iterator = { Tast_iterator.default_iterator with expr; pat; module_expr; structure_item } in
  iterator.structure iterator structure;
  found
