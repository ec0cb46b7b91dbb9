(* What the slots of units' blocks hold. *)

open Scope

type unit_ = {
  signature : Types.signature;
  structure : Typedtree.structure option;
  value : Scope.t;
  (* Where what the interface declares means what the implementation says. *)
  interface : Scope.t Lazy.t;
}

let units : (string, unit_) Hashtbl.t = Hashtbl.create 1000

let add name signature structure =
  let path = readable_unit name in
  let value =
    match structure with
    | Some structure -> Evaluate.of_structure path structure
    | None ->
        let scope = create path in
        Evaluate.bind_signature scope signature;
        scope
  in
  let interface =
    lazy
      (match structure with
      | None -> value
      | Some _ ->
          let scope = create path in
          Evaluate.bind_signature scope ~inner:(lazy (Structure value)) signature;
          scope)
  in
  Hashtbl.replace units name { signature; structure; value; interface }

let () =
  Evaluate.unit_value :=
    fun name ->
      match Hashtbl.find_opt units name with
      | Some { value; _ } -> Structure value
      | None -> Unknown ("no file for unit " ^ name)

(* The scope of the structure that defines an item. *)
let rec home scope = function
  | [] -> scope
  | step :: up -> (
      let within = home scope up in
      let value =
        match step with
        | Layout.Named id -> (
            match find within id with
            | Some (Module value) -> Evaluate.value_of value
            | _ -> Unknown "")
        | Anonymous structure -> (
            match List.assq_opt structure within.anonymous with
            | Some value -> Evaluate.value_of value
            | None -> Unknown "")
      in
      match value with Structure scope -> scope | _ -> raise (Unresolved "no structure"))

let is_known = function Term.Value number -> not (Term.has_unknown number) | _ -> true

let of_item unit_ (item : Layout.item) =
  let scope = if item.of_interface then Lazy.force unit_.interface else unit_.value in
  let scope = home scope item.home in
  match (item.declared, Option.bind item.id (find scope)) with
  (* The block is what the interface exports of the module. *)
  | Some (Layout.Module_of meaning), Some (Module value) ->
      Translate.module_content (Lazy.force unit_.interface) meaning (Evaluate.value_of value)
  | Some (Layout.Value_of _ as declared), _ ->
      let own = Translate.content scope item in
      if is_known own then own
      else begin
        (* The interface can be more precise: [let empty = []] is exported as a list of something. *)
        let other = Translate.content (Lazy.force unit_.interface) { item with content = declared } in
        if is_known other then other else own
      end
  | _ -> Translate.content scope item

(* Whether functions are looked at. *)
let with_functions = ref false

let of_unit name =
  let unit_ = Hashtbl.find units name in
  let exported, hidden = Layout.of_unit unit_.signature unit_.structure in
  let content item = try of_item unit_ item with Unresolved _ -> Term.Nothing_known in
  (match unit_.structure with
  | Some structure when !with_functions -> (
      try Functions.of_unit name unit_.value structure with _ -> ())
  | _ -> ());
  Option.iter (Named.add_unit name) unit_.structure;
  List.map content (exported @ hidden)

(* All units that have an implementation, with its scope, in the order of their names. *)
let structures () =
  let add name { structure; value; _ } all =
    match structure with Some structure -> (name, (value, structure)) :: all | None -> all
  in
  Hashtbl.fold add units [] |> List.sort (fun (a, _) (b, _) -> compare a b) |> List.map snd
