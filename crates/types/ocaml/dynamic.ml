(* Dynamic values: [Dyn : 'a tag * 'a -> t], where a tag is the hash of a name. A type that has such a constructor does
   not say what its values hold, but the call that makes a tag does: [(create "name" : page tag)].

   What is found are triples: the type of tags, the hash of a name, the type of the values behind it. There are two
   ways to them, both from calls that have the name as a constant among their arguments:
   - the call's result is a tag: its argument is the type;
   - the called function makes a dynamic value in its body, as in [fun v -> Dyn (tag, v)]: the type of what it puts
     there, with what the function's type variables are at the call.
   A constant that is no tag's name does no harm: no value in memory has its hash. A hash that two calls give different
   types has none. *)

open Typedtree

(* The keys of types of tags, which are what [Dyn] has first. *)
let tag_keys : (int, int) Hashtbl.t = Hashtbl.create 10

(* By the type of tags and the hash: [None] if there are several types. *)
let found : (int * int, int option) Hashtbl.t = Hashtbl.create 1000

let find_tag_types () =
  let is_tag_type = Hashtbl.create 10 in
  for number = 0 to Term.declarations.count - 1 do
    match (Term.get Term.declarations number).definition with
    | Variant constructors ->
        List.iter
          (fun (constructor : Term.constructor) ->
            match (constructor.arguments, constructor.result) with
            | [ tag; value ], Some results -> (
                match (Term.get Term.terms tag.field_type, Term.get Term.terms value.field_type) with
                | Declared (tag, [ of_value ]), _
                  when of_value = value.field_type && not (List.mem of_value results) ->
                    Hashtbl.replace is_tag_type tag ()
                | _ -> ())
            | _ -> ())
          constructors
    | _ -> ()
  done;
  Hashtbl.iter
    (fun key number -> if Hashtbl.mem is_tag_type number then Hashtbl.replace tag_keys key number)
    Translate.declared_numbers

(* The number of a type of tags, and what the tags are of. *)
let as_tag scope ty =
  match Type_view.view ty with
  | Constructor (path, [ argument ]) -> (
      match Evaluate.type_at scope path with
      | { key; _ } -> Option.map (fun number -> (number, argument)) (Hashtbl.find_opt tag_keys key)
      | exception _ -> None)
  | _ -> None

(* Calls [each] with an expression and all those inside. *)
let each_expression each expression =
  let expr sub expression =
    each expression;
    Tast_iterator.default_iterator.expr sub expression
  in
  let iterator = { Tast_iterator.default_iterator with expr } in
  iterator.expr iterator expression

(* The expressions right inside one. *)
let inside expression =
  let found = ref [] in
  let expr _ inner = found := inner :: !found in
  Tast_iterator.default_iterator.expr { Tast_iterator.default_iterator with expr } expression;
  List.rev !found

let constants expression =
  let found = ref [] in
  each_expression
    (fun { exp_desc; _ } ->
      match exp_desc with
      | Texp_constant (Const_string (text, _, _)) -> found := text :: !found
      | _ -> ())
    expression;
  List.sort_uniq compare !found

(* ---- Functions that make dynamic values. ---- *)

type maker = { tags : int; payload : Types.type_expr; own_type : Types.type_expr; home : Scope.t }

(* By the number of the scope that defines a function, and its name; inside the scope by its unique name, too. *)
let makers : (int * string, maker) Hashtbl.t = Hashtbl.create 20

let makes scope expression =
  let made = ref [] in
  each_expression
    (fun { exp_desc; _ } ->
      match exp_desc with
      | Texp_construct (_, _, [ tag; payload ]) ->
          Option.iter
            (fun (tags, _) -> made := (tags, payload.exp_type) :: !made)
            (as_tag scope tag.exp_type)
      | _ -> ())
    expression;
  !made

let find_makers scope item =
  match item.str_desc with
  | Tstr_value (_, bindings) ->
      List.iter
        (fun ({ vb_expr; _ } as binding) ->
          match (Bound.of_bindings [ binding ], makes scope vb_expr) with
          | [ (id, _, own_type) ], [ (tags, payload) ] ->
              let maker = { tags; payload; own_type; home = scope } in
              Hashtbl.replace makers (scope.Scope.number, Ident.name id) maker;
              Hashtbl.replace makers (scope.number, Ident.unique_name id) maker
          | _ -> ())
        bindings
  | _ -> ()

let rec maker_of scope (path : Path.t) =
  match path with
  | Pident id -> (
      match (Hashtbl.find_opt makers (scope.Scope.number, Ident.unique_name id), scope.up) with
      | Some maker, _ -> Some maker
      | None, Some up -> maker_of up path
      | None, None -> None)
  | Pdot (path, name) -> (
      match Evaluate.module_at scope path with
      | Structure inner -> Hashtbl.find_opt makers (inner.number, name)
      | _ | (exception _) -> None)
  | _ -> None

(* What the variables of a function's type are where it is called, by their numbers. *)
let instance own_type at_call =
  let found = Hashtbl.create 4 in
  let rec go fuel own other =
    if fuel > 0 then
      match (Type_nodes.desc own, Type_nodes.desc other) with
      | (Tvar _ | Tunivar _), _ ->
          if not (Hashtbl.mem found (Type_view.id own)) then Hashtbl.replace found (Type_view.id own) other
      | Tarrow (_, own, own_result, _), Tarrow (_, other, other_result, _) ->
          go (fuel - 1) own other;
          go (fuel - 1) own_result other_result
      | Tpoly (own, _), _ -> go (fuel - 1) own other
      | _ -> (
          match (Type_view.view own, Type_view.view other) with
          | Constructor (own, own_arguments), Constructor (other, arguments)
            when Path.same own other && List.compare_lengths own_arguments arguments = 0 ->
              List.iter2 (go (fuel - 1)) own_arguments arguments
          | Tuple own, Tuple other when List.compare_lengths own other = 0 ->
              List.iter2 (go (fuel - 1)) own other
          | _ -> ())
  in
  go 100 own_type at_call;
  found

(* A term with others in the place of its variables. *)
let rec substitute parts number =
  let list = List.map (substitute parts) in
  match Term.get Term.terms number with
  | Variable variable -> List.nth parts variable
  | Tuple all -> Term.intern (Tuple (list all))
  | Array part -> Term.intern (Array (substitute parts part))
  | Lazy part -> Term.intern (Lazy (substitute parts part))
  | Declared (declaration, all) -> Term.intern (Declared (declaration, list all))
  | Polymorphic_variant tags ->
      let tag (name, part) = (name, Option.map (substitute parts) part) in
      Term.intern (Polymorphic_variant (List.map tag tags))
  | Object methods ->
      Term.intern (Object (List.map (fun (name, part) -> (name, substitute parts part)) methods))
  | _ -> number

let term_at scope ty = Translate.term (Translate.context ~is_local:true scope) ty

let payload_at scope { payload; own_type; home; _ } at_call =
  let context = Translate.context ~is_local:true home in
  let parts = ref [] in
  Hashtbl.iter
    (fun id ty ->
      Hashtbl.replace context.variables id (List.length !parts);
      parts := !parts @ [ term_at scope ty ])
    (instance own_type at_call);
  substitute !parts (Translate.term context payload)

(* ---- Calls. ---- *)

let claim tags term names =
  if not (Term.has_unknown term) then
    List.iter
      (fun name ->
        let key = (tags, Hashtbl.hash name) in
        match Hashtbl.find_opt found key with
        | None -> Hashtbl.replace found key (Some term)
        | Some (Some other) when other = term -> ()
        | Some _ -> Hashtbl.replace found key None)
      names

(* The function of a call, through [@@] and [|>]. *)
let rec called expression =
  match inside expression with
  | { exp_desc = Texp_ident (path, _, _); _ } :: arguments -> (
      match (Path.last path, arguments) with
      | "@@", [ f; _ ] | "|>", [ _; f ] -> function_ f
      | _ -> List.nth_opt (inside expression) 0)
  | first :: _ -> function_ first
  | [] -> None

and function_ expression =
  match expression.exp_desc with
  | Texp_apply _ -> called expression
  | _ -> Some expression

let look_at_call scope expression =
  match expression.exp_desc with
  | Texp_apply _ -> (
      let claim tags term =
        match constants expression with [] -> () | names -> claim tags (term ()) names
      in
      (match as_tag scope expression.exp_type with
      | Some (tags, argument) -> claim tags (fun () -> term_at scope argument)
      | None -> ());
      match called expression with
      | Some { exp_desc = Texp_ident (path, _, _); exp_type; _ } -> (
          match maker_of scope path with
          | Some maker -> claim maker.tags (fun () -> payload_at scope maker exp_type)
          | None -> ())
      | _ -> ())
  | _ -> ()

let find_calls scope item =
  match item.str_desc with
  | Tstr_value (_, bindings) ->
      List.iter (fun { vb_expr; _ } -> each_expression (look_at_call scope) vb_expr) bindings
  | Tstr_eval (expression, _) -> each_expression (look_at_call scope) expression
  | _ -> ()

(* Looks at all units. *)
let find units =
  find_tag_types ();
  if Hashtbl.length tag_keys > 0 then begin
    let each f =
      List.iter
        (fun (scope, structure) ->
          try ignore (Variables.of_structure ~each_item:f scope structure) with _ -> ())
        units
    in
    each find_makers;
    each find_calls;
    Translate.complete ()
  end

let rows () =
  let rows =
    Hashtbl.fold
      (fun (tags, hash) term rows ->
        match term with Some term -> (tags, hash, term) :: rows | None -> rows)
      found []
  in
  List.sort compare rows
