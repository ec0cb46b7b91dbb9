(* The layout of a unit's block, as [Translmod.build_ident_map] of the compiler makes it: what the
   interface exports, in its order; then what the implementation defines besides, in the order of
   definition; then what the structures inside it define. Compilers with flambda keep only the first
   part. *)

open Typedtree
open Types

(* What can shadow what. *)
type namespace = Values | Modules | Extensions | Classes

type item = { id : Ident.t option; namespace : namespace; exportable : bool; slot : Slot.t }

let name_of item = match List.rev item.slot.Slot.path with name :: _ -> name | [] -> ""

(* A name without a slot, which shadows those before it. *)
let is_primitive item = item.id = None

let slot ?(stamp = 0) within kind name ty position =
  { Slot.kind; path = within @ [ name ]; ty; position; stamp }

let item ?stamp within kind namespace id ty position =
  let name = Ident.name id in
  { id = Some id; namespace; exportable = true; slot = slot ?stamp within kind name ty position }

let module_kind (ty : Types.module_type) =
  match ty with
  | Mty_functor _ -> (Slot.Functor, "")
  | Mty_ident path | Mty_alias path -> (Slot.Module, Slot.path_text path)
  | _ -> (Slot.Module, "")

let module_item within id ty position =
  let kind, text = module_kind ty in
  item within kind Modules id text position

(* The items of a signature, those without a slot as well. *)
let of_signature within signature =
  List.filter_map
    (function
      | Sig_value (id, ({ val_kind = Val_prim _; _ } as value), _) ->
          let it = item within Slot.Value Values id "" value.val_loc in
          Some { it with id = None }
      | Sig_value (id, value, _) ->
          Some (item within Slot.Value Values id (Slot.type_text value.val_type) value.val_loc)
      | Sig_typext (id, ext, _, _) ->
          Some (item within Slot.Exception Extensions id "" ext.ext_loc)
      | Sig_module (id, Mp_present, md, _, _) ->
          Some (module_item within id md.md_type md.md_loc)
      | Sig_class (id, cl, _, _) -> Some (item within Slot.Class Classes id "" cl.cty_loc)
      | _ -> None)
    signature

(* Items that an [open] brings are defined, but never exported. *)
let not_exportable items = List.map (fun it -> { it with exportable = false }) items

let is_function expression = match expression.exp_desc with Texp_function _ -> true | _ -> false

let of_binding within vb =
  let bound = Bound.of_bindings [ vb ] in
  let stamp_of id =
    match (bound, vb.vb_pat.pat_desc) with
    | [ _ ], Tpat_var _ when is_function vb.vb_expr -> (
        (* [name_stamp] *)
        let unique = Ident.unique_name id in
        match String.rindex_opt unique '_' with
        | None -> 0
        | Some i -> (
            let digits = String.sub unique (i + 1) (String.length unique - i - 1) in
            match int_of_string_opt digits with Some stamp when stamp > 0 -> stamp | _ -> 0))
    | _ -> 0
  in
  List.map
    (fun (id, name, ty) ->
      item ~stamp:(stamp_of id) within Slot.Value Values id (Slot.type_text ty)
        name.Location.loc)
    bound

let of_extension within ext = item within Slot.Exception Extensions ext.ext_id "" ext.ext_loc

(* A structure written out. *)
let structure_of me =
  match me.mod_desc with
  | Tmod_structure structure -> Some structure
  | Tmod_constraint ({ mod_desc = Tmod_structure structure; _ }, _, _, _) -> Some structure
  | _ -> None

(* From OCaml 5.0 on, the slots of an included structure without a constraint are the unit's, too. *)
let plain_includes =
  match String.split_on_char '.' Sys.ocaml_version with
  | major :: _ -> ( match int_of_string_opt major with Some n -> n >= 5 | None -> true)
  | [] -> true

let included_structure me =
  match me.mod_desc with
  | Tmod_structure structure when plain_includes -> Some structure
  | Tmod_constraint ({ mod_desc = Tmod_structure structure; _ }, _, _, _) -> Some structure
  | _ -> None

let opened_structure me =
  match me.mod_desc with Tmod_structure structure -> Some structure | _ -> None

(* [defined_idents] and [all_idents] of the compiler: what an item defines itself, and with [inside]
   what structures inside it define, too. *)
let rec defined ~inside within structure =
  List.concat_map (defined_by ~inside within) structure.str_items

and defined_by ~inside within it =
  match it.str_desc with
  | Tstr_value (_, bindings) -> List.concat_map (of_binding within) bindings
  | Tstr_primitive value ->
      let it = item within Slot.Value Values value.val_id "" value.val_loc in
      [ { it with id = None } ]
  | Tstr_typext extension -> List.map (of_extension within) extension.tyext_constructors
  | Tstr_exception exn -> [ of_extension within exn.tyexn_constructor ]
  | Tstr_module { mb_id = Some id; mb_presence = Mp_present; mb_expr; mb_loc; _ } ->
      module_item within id mb_expr.mod_type mb_loc
      :: (if inside then inner (within @ [ Ident.name id ]) (structure_of mb_expr) else [])
  | Tstr_recmodule bindings ->
      List.filter_map
        (fun mb ->
          Option.map (fun id -> module_item within id mb.mb_expr.mod_type mb.mb_loc) mb.mb_id)
        bindings
  | Tstr_open opened ->
      not_exportable (of_signature within opened.open_bound_items)
      @ if inside then inner within (opened_structure opened.open_expr) else []
  | Tstr_class classes ->
      List.map
        (fun (cl, _) ->
          item within Slot.Class Classes cl.ci_id_class "" cl.ci_id_name.Location.loc)
        classes
  | Tstr_include included ->
      of_signature within included.incl_type
      @ if inside then inner within (included_structure included.incl_mod) else []
  | _ -> []

and inner within = function
  | Some structure -> defined ~inside:true within structure
  | None -> []

(* [more_idents] of the compiler: only what structures inside define. *)
let defined_inside structure =
  List.concat_map
    (fun it ->
      match it.str_desc with
      | Tstr_module { mb_id; mb_presence = Mp_present; mb_expr; _ } ->
          let name = match mb_id with Some id -> Ident.name id | None -> "_" in
          inner [ name ] (structure_of mb_expr)
      | Tstr_open opened -> inner [] (opened_structure opened.open_expr)
      | Tstr_include included -> inner [] (included_structure included.incl_mod)
      | _ -> [])
    structure.str_items

let has_slot it = not (is_primitive it)

(* Exported slots, hidden ones. *)
let of_unit signature structure =
  let exported = List.filter has_slot (of_signature [] signature) in
  match structure with
  | None -> (List.map (fun it -> it.slot) exported, [])
  | Some structure ->
      let items = Array.of_list (defined ~inside:false [] structure) in
      (* The last definition of a name is the one that the interface means. *)
      let last = Hashtbl.create 100 in
      Array.iteri
        (fun i it ->
          if it.exportable then Hashtbl.replace last (it.namespace, name_of it) i)
        items;
      let taken = Array.make (Array.length items) false in
      let exported =
        List.map
          (fun it ->
            match Hashtbl.find_opt last (it.namespace, name_of it) with
            | Some i when has_slot items.(i) ->
                taken.(i) <- true;
                items.(i).slot
            | _ -> it.slot)
          exported
      in
      let hidden =
        List.filteri (fun i it -> (not taken.(i)) && has_slot it) (Array.to_list items)
      in
      let inside = List.filter has_slot (defined_inside structure) in
      (exported, List.map (fun it -> it.slot) (hidden @ inside))

(* Whether a structure may need the slot of a method cache, which is the last one: where classes and
   objects call methods, the compiler decides. *)
let may_have_method_cache = function
  | None -> false
  | Some structure ->
      let found = ref false in
      let expr sub expression =
        (match expression.exp_desc with Texp_send _ -> found := true | _ -> ());
        Tast_iterator.default_iterator.expr sub expression
      in
      let iterator = { Tast_iterator.default_iterator with expr } in
      iterator.structure iterator structure;
      !found
