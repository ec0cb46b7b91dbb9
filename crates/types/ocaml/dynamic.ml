(* Dynamic values: [Dyn : 'a tag * 'a -> t], where a tag is the hash of a name. A type that has such a constructor does
   not say what its values hold, but the call that makes a tag does: [(create "name" : page tag)].

   What is found are triples: the type of tags, the hash of a name, the type of the values behind it. There are three
   ways to them, all from calls that have the name as a constant among their arguments:
   - the call's result is a tag: its argument is the type;
   - the called function makes a dynamic value in its body, as in [fun v -> Dyn (tag, v)]: the type of what it puts
     there, with what the function's type variables are at the call;
   - the called function makes a tag in its body, as in [let declare name value = add (create name : 'a tag) value]: the
     type that the tag is of, in the same way. The name may have a suffix ([suffixes.ml]).
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

(* The tags that a type holds by itself or in a tuple. *)
let tags_in scope ty =
  match Type_view.view ty with
  | Tuple parts -> List.filter_map (as_tag scope) parts
  | _ -> Option.to_list (as_tag scope ty)

(* ---- Functions that make dynamic values or tags. ---- *)

type maker = {
  tags : int;
  payload : Types.type_expr;
  own_type : Types.type_expr;
  home : Scope.t;
  (* What it puts behind a name. *)
  suffix : string;
}

let makers : maker Bindings.t = Bindings.create 20

(* The function of a call, through [@@] and [|>]. *)
let rec called expression =
  match Expressions.inside expression with
  | { exp_desc = Texp_ident (path, _, _); _ } :: arguments -> (
      match (Path.last path, arguments) with
      | "@@", [ f; _ ] | "|>", [ _; f ] -> function_ f
      | _ -> List.nth_opt (Expressions.inside expression) 0)
  | first :: _ -> function_ first
  | [] -> None

and function_ expression =
  match expression.exp_desc with
  | Texp_apply _ -> called expression
  | _ -> Some expression

let maker_called scope expression =
  match called expression with
  | Some { exp_desc = Texp_ident (path, _, _); _ } -> Bindings.find makers scope path
  | _ -> None

(* What a function's body makes: the type of tags, that of the values, and the suffix of names. *)
let makes scope expression =
  let values = ref [] and tags = ref [] in
  Expressions.each
    (fun inner ->
      match inner.exp_desc with
      | Texp_construct (_, _, [ tag; payload ]) ->
          Option.iter
            (fun (tags, _) -> values := (tags, payload.exp_type, "") :: !values)
            (as_tag scope tag.exp_type)
      | Texp_apply _ ->
          let suffix () =
            match maker_called scope inner with
            | Some { suffix; _ } -> suffix
            | None -> Suffixes.in_arguments scope inner
          in
          List.iter
            (fun (of_tags, payload) -> tags := (of_tags, payload, suffix ()) :: !tags)
            (tags_in scope inner.exp_type)
      | _ -> ())
    expression;
  if !values <> [] then !values else !tags

let find_makers scope item =
  Bindings.each_value
    (fun id own_type expression ->
      match makes scope expression with
      | [ (tags, payload, suffix) ] ->
          Bindings.add makers scope id { tags; payload; own_type; home = scope; suffix }
      | _ -> ())
    item

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

let look_at_call scope expression =
  match expression.exp_desc with
  | Texp_apply _ -> (
      let claim ?(suffix = "") tags term =
        match Strings.constants scope expression with
        | [] -> ()
        | names -> claim tags (term ()) (List.map (fun name -> name ^ suffix) names)
      in
      (match as_tag scope expression.exp_type with
      | Some (tags, argument) -> claim tags (fun () -> term_at scope argument)
      | None -> ());
      match (called expression, maker_called scope expression) with
      | Some { exp_type; _ }, Some ({ tags; suffix; _ } as maker) ->
          claim ~suffix tags (fun () -> payload_at scope maker exp_type)
      | _ -> ())
  | _ -> ()

let find_calls scope item =
  match item.str_desc with
  | Tstr_value (_, bindings) ->
      List.iter (fun { vb_expr; _ } -> Expressions.each (look_at_call scope) vb_expr) bindings
  | Tstr_eval (expression, _) -> Expressions.each (look_at_call scope) expression
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
    each Strings.find;
    each Suffixes.find;
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
