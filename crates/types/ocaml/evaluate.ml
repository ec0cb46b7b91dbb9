(* What modules contain, by evaluating their definitions. Signatures are seen through: an abstract type is what its
   implementation says. A functor's result is evaluated once for each argument. *)

open Scope
open Types
open Typedtree

(* Functors of recursive modules can be applied to ever longer arguments. *)
let longest_path = 2000

(* Gives the value of a unit by its name; set by who reads files. *)
let unit_value : (string -> module_value) ref = ref (fun name -> Unknown ("no file for unit " ^ name))

let number_of = function
  | Structure scope -> Some scope.number
  | Functor f -> Some f.functor_number
  | Unknown _ -> None

let path_of = function
  | Structure scope -> Some scope.path
  | Functor f -> Some f.functor_path
  | Unknown _ -> None

let value_of lazy_value = try force lazy_value with Unresolved reason -> Unknown reason

let rec module_at scope (path : Path.t) =
  match path with
  | Pident id when Ident.persistent id -> !unit_value (Ident.name id)
  | Pident id -> (
      match find scope id with
      | Some (Module value) -> value_of value
      | _ -> Unknown ("no module " ^ Ident.name id))
  | Pdot (path, name) -> (
      match module_at scope path with
      | Structure inner -> (
          match Hashtbl.find_opt inner.modules name with
          | Some value -> value_of value
          | None -> Unknown (Printf.sprintf "no module %s" (name_in inner name)))
      | Functor _ -> Unknown "a module of a functor"
      | Unknown _ as unknown -> unknown)
  | Papply (f, argument) -> apply (module_at scope f) (module_at scope argument) ~otherwise:""
  | _ -> Unknown "a path of another kind"

(* [otherwise] is the result's path where the argument has none. *)
and apply f argument ~otherwise =
  match f with
  | Unknown _ -> f
  | Structure _ -> Unknown "a structure that is applied"
  | Functor f -> (
      let number = match number_of argument with Some number -> number | None -> -1 in
      match Hashtbl.find_opt f.results number with
      | Some result when number >= 0 -> result
      | _ ->
          let path =
            match path_of argument with
            | _ when otherwise <> "" -> otherwise
            | Some argument -> Printf.sprintf "%s(%s)" f.functor_path argument
            | None -> f.functor_path ^ "(_)"
          in
          if String.length path > longest_path then Unknown "a functor that is applied without end"
          else begin
            let result = f.apply argument path in
            Hashtbl.replace f.results number result;
            result
          end)

let module_type_at scope (path : Path.t) =
  match path with
  | Pident id -> (
      match find scope id with
      | Some (Module_type meaning) -> force meaning
      | _ -> raise (Unresolved ("no module type " ^ Ident.name id)))
  | Pdot (path, name) -> (
      match module_at scope path with
      | Structure inner -> (
          match Hashtbl.find_opt inner.module_types name with
          | Some meaning -> force meaning
          | None -> raise (Unresolved ("no module type " ^ name_in inner name)))
      | Functor _ -> raise (Unresolved "a module type of a functor")
      | Unknown reason -> raise (Unresolved reason))
  | _ -> raise (Unresolved "a path of another kind")

let type_at scope (path : Path.t) =
  match path with
  | Pident id -> (
      match find scope id with
      | Some (Type declared) -> force declared
      | _ ->
          let name = Ident.name id in
          let existential = name <> "" && name.[0] = '$' in
          raise (Unresolved (if existential then "existential type" else "no type " ^ name)))
  | Pdot (path, name) -> (
      match module_at scope path with
      | Structure inner -> (
          match Hashtbl.find_opt inner.types name with
          | Some declared -> force declared
          | None -> raise (Unresolved ("no type " ^ name_in inner name)))
      | Functor _ -> raise (Unresolved "a type of a functor")
      | Unknown reason -> raise (Unresolved reason))
  | _ -> raise (Unresolved "a path of another kind")

let extension_at scope (path : Path.t) =
  match path with
  | Pident id -> (
      match find scope id with
      | Some (Extension extension) -> force extension
      | _ -> raise (Unresolved ("no exception " ^ Ident.name id)))
  | Pdot (path, name) -> (
      match module_at scope path with
      | Structure inner -> (
          match Hashtbl.find_opt inner.extensions name with
          | Some extension -> force extension
          | None -> raise (Unresolved ("no exception " ^ name_in inner name)))
      | Functor _ -> raise (Unresolved "an exception of a functor")
      | Unknown reason -> raise (Unresolved reason))
  | _ -> raise (Unresolved "a path of another kind")

(* Binds what a signature lists. With [inner], names mean what they mean in that module. *)
let rec bind_signature scope ?inner signature =
  let from table name otherwise =
    lazy
      (match inner with
      | None -> otherwise ()
      | Some inner -> (
          match value_of inner with
          | Structure found -> (
              match Hashtbl.find_opt (table found) name with
              | Some value -> force value
              | None -> otherwise ())
          | Functor _ | Unknown _ -> otherwise ()))
  in
  List.iter
    (function
      | Sig_type (id, declaration, _, _) ->
          let name = Ident.name id in
          let own () = declare scope name (Declaration declaration) in
          add_type scope id (from (fun s -> s.types) name own)
      | Sig_module (id, _, { md_type; _ }, _, _) ->
          let name = Ident.name id in
          let own () =
            of_module_type ~is_parameter:scope.is_parameter scope (name_in scope name) md_type
          in
          add_module scope id (from (fun s -> s.modules) name own)
      | Sig_modtype (id, { mtd_type = Some meaning; _ }, _) ->
          let name = Ident.name id in
          let own () = { within = scope; type_path = name_in scope name; meaning } in
          add_module_type scope id (from (fun s -> s.module_types) name own)
      | Sig_modtype (id, { mtd_type = None; _ }, _) ->
          let name = Ident.name id in
          let own () = raise (Unresolved "an abstract module type") in
          add_module_type scope id (from (fun s -> s.module_types) name own)
      | Sig_value (id, value, _) ->
          let name = Ident.name id in
          add_value scope name (from (fun s -> s.values) name (fun () -> (scope, value.val_type)))
      | Sig_typext (id, ext, _, _) ->
          let name = Ident.name id in
          let own () = declare_extension scope name ext in
          add_extension scope id (from (fun s -> s.extensions) name own)
      | _ -> ())
    signature

and of_module_type ?(is_parameter = false) scope path (meaning : Types.module_type) =
  match meaning with
  | Mty_signature signature ->
      let inner = create ~up:scope ~is_parameter path in
      bind_signature inner signature;
      Structure inner
  | Mty_ident name -> (
      match module_type_at scope name with
      | { within; meaning; _ } -> of_module_type ~is_parameter within path meaning
      | exception Unresolved reason -> Unknown reason)
  | Mty_alias alias -> module_at scope alias
  | Mty_functor (parameter, result) ->
      let apply argument path =
        let inner = create ~up:scope path in
        (match parameter with
        | Named (Some id, declared) -> bind_parameter inner id declared argument
        | _ -> ());
        of_module_type inner path result
      in
      functor_value path apply
  | _ -> Unknown "a module type of another kind"

and functor_value functor_path apply =
  Functor { functor_number = next (); functor_path; apply; results = Hashtbl.create 4 }

(* A parameter means the argument; where that is not known, what is declared of it. *)
and bind_parameter scope id declared argument =
  let path =
    match declared with Mty_ident path -> Slot.path_text path | _ -> Ident.name id
  in
  let value =
    match argument with
    | Unknown _ -> lazy (of_module_type ~is_parameter:true scope path declared)
    | known -> lazy known
  in
  Hashtbl.replace scope.idents (Ident.unique_name id) (Module value)

(* A type of a module is equal to another one, by the name that leads to it. *)
let rec constrain scope value name ty =
  match (value, name) with
  | Structure inner, [ name ] -> (
      match Hashtbl.find_opt inner.types name with
      | None -> ()
      | Some old ->
          let equal = { (declare scope "" (Equal ty)) with name = name_in inner name } in
          let is_old _ entity =
            match entity with Scope.Type declared when declared == old -> Some (Scope.Type (lazy equal)) | other -> Some other
          in
          Hashtbl.filter_map_inplace is_old inner.idents;
          Hashtbl.replace inner.types name (lazy equal))
  | Structure inner, name :: rest -> (
      match Hashtbl.find_opt inner.modules name with
      | Some value -> constrain scope (value_of value) rest ty
      | None -> ())
  | _ -> ()

(* A first-class module: one of a module type, with types that are fixed in [scope]. *)
let of_package ?is_parameter scope { within; type_path; meaning } constraints =
  let value = of_module_type ?is_parameter within type_path meaning in
  List.iter (fun (name, ty) -> constrain scope value name ty) constraints;
  value

let rec structure_within me =
  match me.mod_desc with
  | Tmod_structure structure -> Some structure
  | Tmod_constraint (me, _, _, _) -> structure_within me
  | _ -> None

let rec has_path me =
  match me.mod_desc with
  | Tmod_ident _ -> true
  | Tmod_apply (f, argument, _) -> has_path f && has_path argument
  | Tmod_constraint (me, _, _, _) -> has_path me
  | _ -> false

(* Up to what a structure evaluates lazily, as other definitions may need only parts of it. [path] is that of
   what the expression makes. *)
let rec of_expression scope path me =
  match me.mod_desc with
  | Tmod_ident (name, _) -> module_at scope name
  | Tmod_structure structure -> Structure (of_structure ~up:scope path structure)
  | Tmod_functor (parameter, body) ->
      let apply argument path =
        let inner = create ~up:scope path in
        (match parameter with
        | Named (Some id, _, declared) -> bind_parameter inner id declared.mty_type argument
        | _ -> ());
        of_expression inner path body
      in
      functor_value path apply
  | Tmod_apply (f, argument, _) ->
      let otherwise = if has_path me then "" else path in
      let value = of_expression scope (inside path "(argument)") argument in
      or_declared scope path me (apply (of_expression scope path f) value ~otherwise)
  | Tmod_constraint (inner, _, _, _) -> or_declared scope path me (of_expression scope path inner)
  | _ -> (
      match Unit_functor.applied me with
      | None -> of_module_type scope path me.mod_type
      | Some f ->
          let argument = Structure (create ~up:scope "") in
          or_declared scope path me (apply (of_expression scope path f) argument ~otherwise:path))

and or_declared scope path me = function
  | Unknown _ -> of_module_type scope path me.mod_type
  | known -> known

and of_structure ?up path structure =
  let scope = create ?up path in
  List.iter (bind_item scope) structure.str_items;
  scope

and bind_item scope item =
  let named id = name_in scope (Ident.name id) in
  let bind_module ({ mb_expr; _ } as binding) =
    match binding.mb_id with
    | Some id -> add_module scope id (lazy (of_expression scope (named id) mb_expr))
    | None -> ()
  in
  match item.str_desc with
  | Tstr_value (_, bindings) ->
      List.iter
        (fun (id, _, ty) -> add_value scope (Ident.name id) (lazy (scope, ty)))
        (Bound.of_bindings bindings)
  | Tstr_type (_, declarations) ->
      List.iter
        (fun { typ_id; typ_type; _ } ->
          add_type scope typ_id (lazy (declare scope (Ident.name typ_id) (Declaration typ_type))))
        declarations
  | Tstr_typext { tyext_constructors; _ } -> List.iter (bind_extension scope) tyext_constructors
  | Tstr_exception { tyexn_constructor; _ } -> bind_extension scope tyexn_constructor
  | Tstr_module binding -> bind_module binding
  | Tstr_recmodule bindings ->
      (* Each is what its type says first, so that none needs itself. *)
      List.iter
        (fun { mb_id; mb_expr; _ } ->
          match mb_id with
          | None -> ()
          | Some id ->
              let inner = lazy (of_expression scope (named id) mb_expr) in
              add_module scope id (lazy (of_recursive scope (named id) mb_expr inner)))
        bindings
  | Tstr_modtype { mtd_id; mtd_type = Some { mty_type; _ }; _ } ->
      add_module_type scope mtd_id
        (lazy { within = scope; type_path = named mtd_id; meaning = mty_type })
  | Tstr_open { open_expr; open_bound_items; _ } ->
      bind_signature scope ~inner:(anonymous scope "(open)" open_expr) open_bound_items
  | Tstr_include { incl_mod; incl_type; _ } ->
      bind_signature scope ~inner:(anonymous scope "" incl_mod) incl_type
  | Tstr_class classes ->
      List.iter
        (fun (({ ci_decl; _ } as cl : class_declaration), _) ->
          bind_class scope cl.ci_id_object ci_decl.cty_params ci_decl.cty_type)
        classes
  | Tstr_class_type types ->
      List.iter
        (fun (_, _, ({ ci_type_decl; _ } as cl : class_type_declaration)) ->
          bind_class scope cl.ci_id_object ci_type_decl.clty_params ci_type_decl.clty_type)
        types
  | _ -> ()

and of_recursive scope path me inner =
  let rec declared scope (meaning : Types.module_type) =
    match meaning with
    | Mty_signature signature ->
        let outer = create ~up:scope path in
        bind_signature outer ~inner signature;
        Structure outer
    | Mty_ident name -> (
        match module_type_at scope name with
        | { within; meaning; _ } -> declared within meaning
        | exception Unresolved reason -> Unknown reason)
    | _ -> value_of inner
  in
  declared scope me.mod_type

(* The module that an [open] or [include] takes things from. Structures in it are found again by themselves. *)
and anonymous scope name me =
  let path = if name = "" then scope.path else name_in scope name in
  let value = lazy (of_expression scope path me) in
  (match structure_within me with
  | Some structure -> scope.anonymous <- (structure, value) :: scope.anonymous
  | None -> ());
  value

and bind_extension scope { ext_id; ext_type; ext_kind; _ } =
  let own () = declare_extension scope (Ident.name ext_id) ext_type in
  add_extension scope ext_id
    (lazy
      (match ext_kind with
      (* Another name of the same constructor. *)
      | Text_rebind (path, _) -> ( try extension_at scope path with Unresolved _ -> own ())
      | _ -> own ()))

and bind_class scope id parameters ty =
  let rec self = function
    | Cty_signature { csig_self; _ } -> csig_self
    | Cty_arrow (_, _, result) -> self result
    | Cty_constr (_, _, ty) -> self ty
  in
  add_type scope id (lazy (declare scope (Ident.name id) (Class (parameters, self ty))))
