(* The layout of a unit's block, as [Translmod.build_ident_map] of the compiler makes it: what the
   interface exports, in its order; then what the implementation defines besides, in the order of
   definition; then what the structures inside it define. Compilers with flambda keep only the first
   part. *)

open Typedtree
open Types

(* What can shadow what. *)
type namespace = Values | Modules | Extensions | Classes

(* What a slot holds, as its definition says it. *)
type content =
  | Value_of of Types.type_expr
  | Module_of of Types.module_type
  | Extension_of of Types.extension_constructor
  | Nothing_known

(* A way into a structure. *)
type step = Named of Ident.t | Anonymous of structure

type item = {
  id : Ident.t option;
  namespace : namespace;
  exportable : bool;
  slot : Slot.t;
  content : content;
  (* From the unit to the structure that the item belongs to, in reverse. *)
  home : step list;
  (* As the interface declares it, if the item is that of the implementation. *)
  declared : content option;
  (* Only the interface has it. *)
  of_interface : bool;
}

let name_of item = match List.rev item.slot.Slot.path with name :: _ -> name | [] -> ""

(* A name without a slot, which shadows those before it. *)
let is_primitive item = item.id = None

let slot ?(stamp = 0) within kind name ty position =
  { Slot.kind; path = within @ [ name ]; ty; position; stamp }

(* Where structures inside a unit are: the names that lead there, and the steps. *)
type place = { names : string list; steps : step list }

let top = { names = []; steps = [] }

let item ?stamp place kind namespace id ty content position =
  let slot = slot ?stamp place.names kind (Ident.name id) ty position in
  { id = Some id; namespace; exportable = true; slot; content; home = place.steps; declared = None;
    of_interface = false }

let module_kind (ty : Types.module_type) =
  match ty with
  | Mty_functor _ -> (Slot.Functor, "")
  | Mty_ident path | Mty_alias path -> (Slot.Module, Slot.path_text path)
  | _ -> (Slot.Module, "")

let module_item place id ty position =
  let kind, text = module_kind ty in
  item place kind Modules id text (Module_of ty) position

(* The items of a signature, those without a slot as well. *)
let of_signature place signature =
  List.filter_map
    (function
      | Sig_value (id, ({ val_kind = Val_prim _; _ } as value), _) ->
          let it = item place Slot.Value Values id "" Nothing_known value.val_loc in
          Some { it with id = None }
      | Sig_value (id, value, _) ->
          let text = Slot.type_text value.val_type in
          Some (item place Slot.Value Values id text (Value_of value.val_type) value.val_loc)
      | Sig_typext (id, ext, _, _) ->
          Some (item place Slot.Exception Extensions id "" (Extension_of ext) ext.ext_loc)
      | Sig_module (id, Mp_present, md, _, _) ->
          Some (module_item place id md.md_type md.md_loc)
      | Sig_class (id, cl, _, _) -> Some (item place Slot.Class Classes id "" Nothing_known cl.cty_loc)
      | _ -> None)
    signature

(* Items that an [open] brings are defined, but never exported. *)
let not_exportable items = List.map (fun it -> { it with exportable = false }) items

let is_function expression = match expression.exp_desc with Texp_function _ -> true | _ -> false

let of_binding place vb =
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
      item ~stamp:(stamp_of id) place Slot.Value Values id (Slot.type_text ty) (Value_of ty)
        name.Location.loc)
    bound

let of_extension place ext =
  item place Slot.Exception Extensions ext.ext_id "" (Extension_of ext.ext_type) ext.ext_loc

(* A structure written out. *)
let structure_of me =
  match me.mod_desc with
  | Tmod_structure structure -> Some structure
  | Tmod_constraint ({ mod_desc = Tmod_structure structure; _ }, _, _, _) -> Some structure
  | _ -> None

(* From OCaml 5.1 on, the slots of an included structure without a constraint are the unit's, too. *)
let plain_includes =
  match String.split_on_char '.' Sys.ocaml_version with
  | major :: minor :: _ -> (int_of_string major, int_of_string minor) >= (5, 1)
  | _ -> true

let included_structure me =
  match me.mod_desc with
  | Tmod_structure structure when plain_includes -> Some structure
  | Tmod_constraint ({ mod_desc = Tmod_structure structure; _ }, _, _, _) -> Some structure
  | _ -> None

let opened_structure me =
  match me.mod_desc with Tmod_structure structure -> Some structure | _ -> None

let enter place id =
  { names = place.names @ [ Ident.name id ]; steps = Named id :: place.steps }

let enter_anonymous place structure = { place with steps = Anonymous structure :: place.steps }

(* [defined_idents] and [all_idents] of the compiler: what an item defines itself, and with [inside]
   what structures inside it define, too. *)
let rec defined ~inside place structure =
  List.concat_map (defined_by ~inside place) structure.str_items

and defined_by ~inside place it =
  match it.str_desc with
  | Tstr_value (_, bindings) -> List.concat_map (of_binding place) bindings
  | Tstr_primitive value ->
      let it = item place Slot.Value Values value.val_id "" Nothing_known value.val_loc in
      [ { it with id = None } ]
  | Tstr_typext extension -> List.map (of_extension place) extension.tyext_constructors
  | Tstr_exception exn -> [ of_extension place exn.tyexn_constructor ]
  | Tstr_module { mb_id = Some id; mb_presence = Mp_present; mb_expr; mb_loc; _ } ->
      module_item place id mb_expr.mod_type mb_loc
      :: (if inside then inner (enter place id) (structure_of mb_expr) else [])
  | Tstr_recmodule bindings ->
      List.filter_map
        (fun mb ->
          Option.map (fun id -> module_item place id mb.mb_expr.mod_type mb.mb_loc) mb.mb_id)
        bindings
  | Tstr_open opened ->
      not_exportable (of_signature place opened.open_bound_items)
      @ if inside then inner_anonymous place (opened_structure opened.open_expr) else []
  | Tstr_class classes ->
      List.map
        (fun (cl, _) ->
          item place Slot.Class Classes cl.ci_id_class "" Nothing_known cl.ci_id_name.Location.loc)
        classes
  | Tstr_include included ->
      of_signature place included.incl_type
      @ if inside then inner_anonymous place (included_structure included.incl_mod) else []
  | _ -> []

and inner place = function
  | Some structure -> defined ~inside:true place structure
  | None -> []

and inner_anonymous place = function
  | Some structure -> inner (enter_anonymous place structure) (Some structure)
  | None -> []

(* [more_idents] of the compiler: only what structures inside define. *)
let defined_inside structure =
  List.concat_map
    (fun it ->
      match it.str_desc with
      | Tstr_module { mb_id; mb_presence = Mp_present; mb_expr; _ } ->
          let place =
            match mb_id with Some id -> enter top id | None -> { top with names = [ "_" ] }
          in
          inner place (structure_of mb_expr)
      | Tstr_open opened -> inner_anonymous top (opened_structure opened.open_expr)
      | Tstr_include included -> inner_anonymous top (included_structure included.incl_mod)
      | _ -> [])
    structure.str_items

let has_slot it = not (is_primitive it)

(* Exported slots, hidden ones. *)
let of_unit signature structure =
  let exported = List.filter has_slot (of_signature top signature) in
  let exported = List.map (fun it -> { it with of_interface = true }) exported in
  match structure with
  | None -> (exported, [])
  | Some structure ->
      let items = Array.of_list (defined ~inside:false top structure) in
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
                { (items.(i)) with declared = Some it.content }
            | Some i ->
                (* An [external] that is exported as a value: the function around it is where it is declared. *)
                { it with slot = { it.slot with Slot.position = items.(i).slot.Slot.position } }
            | None -> it)
          exported
      in
      let hidden =
        List.filteri (fun i it -> (not taken.(i)) && has_slot it) (Array.to_list items)
      in
      let inside = List.filter has_slot (defined_inside structure) in
      (exported, hidden @ inside)

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
