
(* What closures hold: the free variables of functions, in the order in which the compiler without flambda puts them
   into the environment (`middle_end/closure/closure.ml`). For that, units are compiled once more, up to where
   the compiler makes closures. What it does there is little, and is done again here. *)

(* One environment with all that the environments of a unit's code have, which are stored as summaries. Identifiers
   are different from each other, so it does not matter what shadows what. *)
let environment structure =
  let seen = Hashtbl.create 1000 in
  let all = ref Env.Env_empty in
  let rec visit (summary : Env.summary) =
    let node kind id rest add =
      let key = (kind, Ident.unique_name id) in
      if not (Hashtbl.mem seen key) then begin
        Hashtbl.replace seen key ();
        visit rest;
        all := add !all
      end
    in
    match summary with
    | Env_empty -> ()
    | Env_value (rest, id, it) -> node 0 id rest (fun all -> Env_value (all, id, it))
    | Env_type (rest, id, it) -> node 1 id rest (fun all -> Env_type (all, id, it))
    | Env_extension (rest, id, it) -> node 2 id rest (fun all -> Env_extension (all, id, it))
    | Env_module (rest, id, presence, it) ->
        node 3 id rest (fun all -> Env_module (all, id, presence, it))
    | Env_modtype (rest, id, it) -> node 4 id rest (fun all -> Env_modtype (all, id, it))
    | Env_class (rest, id, it) -> node 5 id rest (fun all -> Env_class (all, id, it))
    | Env_cltype (rest, id, it) -> node 6 id rest (fun all -> Env_cltype (all, id, it))
    | Env_persistent (rest, id) -> node 7 id rest (fun all -> Env_persistent (all, id))
    | Env_open (rest, _)
    | Env_constraints (rest, _)
    | Env_copy_types rest
    | Env_value_unbound (rest, _, _)
    | Env_module_unbound (rest, _, _) ->
        visit rest
    | argument -> Option.iter visit (before_argument argument)
  in
  let env _ env = visit (Env.summary env) in
  (* While types are defined, they have provisional definitions. *)
  let typ _ _ = () and type_declarations _ _ = () in
  let iterator = { Tast_iterator.default_iterator with env; typ; type_declarations } in
  iterator.structure iterator structure;
  Envaux.env_from_summary !all Subst.identity

(* The number at the end of an identifier's unique name. *)
let stamp name =
  let number i = int_of_string_opt (String.sub name i (String.length name - i)) in
  match String.rindex_opt name '_' with
  | Some i -> Option.value (number (i + 1)) ~default:0
  | None -> 0

(* Identifiers that are made from now on come after these, as they did when the unit was compiled. *)
let rec stamps_above highest =
  if stamp (Ident.unique_name (Ident.create_local "")) <= highest then stamps_above highest

(* Expressions' environments are those of [environment]. *)
let with_environment environment structure =
  let env _ _ = environment in
  let mapper = { Tast_mapper.default with env } in
  mapper.structure mapper structure

(* Variables that are other names of one of the compiler's own, by that. *)
let other_names code =
  let found = Hashtbl.create 100 in
  let rec walk code =
    (match code with
    | Lambda.Llet (_, _, name, Lvar own, _) ->
        Hashtbl.add found (Ident.unique_name own) (Ident.unique_name name)
    | _ -> ());
    Lambda.iter_head_constructor walk code
  in
  walk code;
  found

(* What the compiler without flambda makes closures of. *)
let code unit_name structure highest_stamp =
  stamps_above highest_stamp;
  Translmod.reset ();
  let program = Translmod.transl_store_implementation unit_name (structure, Tcoerce_none) in
  let names = other_names program.code in
  (Simplif.simplify_lambda program.code, names)

(* Before the first unit: where interfaces of others are. *)
let prepare folders =
  ignore (Warnings.parse_options false "-a");
  Clflags.native_code := true;
  Clflags.recursive_types := true;
  find_interfaces_in folders

(* ---- Applications. ---- *)

(* A place: line, and column from 0. *)
let start_of (position : Lexing.position) =
  (position.pos_lnum, max 0 (position.pos_cnum - position.pos_bol))

let is_data environment ty =
  match Type_view.view (Ctype.expand_head environment ty) with
  | Tuple _ | Object _ | Variant _ | Package _ -> true
  | Constructor (Pident id, _) when Ident.is_predef id -> true
  | Constructor (path, _) -> (
      match Type_view.kind (Env.find_type path environment) with
      | Record _ | Constructors _ | Extensible -> true
      | Abstract | Unboxed_record _ | Unboxed_constructor _ -> false)
  | Variable | Arrow _ | Polymorphic _ | Other -> false
  | exception _ -> false

(* Where applications start whose results are no functions. *)
let whole_applications environment structure =
  let whole = Hashtbl.create 1000 and others = Hashtbl.create 1000 in
  let expr sub (expression : Typedtree.expression) =
    (match expression.exp_desc with
    | Texp_apply _ ->
        let is_whole = try is_data environment expression.exp_type with _ -> false in
        let start = start_of expression.exp_loc.loc_start in
        Hashtbl.replace (if is_whole then whole else others) start ()
    | _ -> ());
    Tast_iterator.default_iterator.expr sub expression
  in
  let iterator = { Tast_iterator.default_iterator with expr } in
  iterator.structure iterator structure;
  fun start -> Hashtbl.mem whole start && not (Hashtbl.mem others start)

(* ---- Functions. ---- *)

type closure = {
  (* The unique name of its first function; [None] if that has none. *)
  name : string option;
  (* Where its first function starts and ends, if known. *)
  place : ((int * int) * (int * int)) option;
  (* Words before the environment. *)
  words_before : int;
  (* Unique names of the variables in its environment; with each other names that the unit has for it. *)
  environment : (string * string list) list;
  (* Where applications start in its first function, without functions inside, that may be partial ones of a known
     function. The compiler makes another function for these. *)
  partial : (int * int) list;
  (* It is inside a function without a name. *)
  is_nested : bool;
}

let place_of location =
  let location = Debuginfo.Scoped_location.to_location location in
  if location = Location.none then None
  else Some (start_of location.Location.loc_start, start_of location.loc_end)

let file_of location =
  (Debuginfo.Scoped_location.to_location location).Location.loc_start.pos_fname

(* Applications in a function's own code. *)
let applications is_whole body =
  let open Lambda in
  let found = Hashtbl.create 4 in
  let rec walk code =
    match code with
    | Lfunction _ -> ()
    | Llet (_, _, _, Lfunction _, rest) -> walk rest
    | Lapply { ap_loc; _ } ->
        (match place_of ap_loc with
        | Some (start, _) when not (is_whole start) -> Hashtbl.replace found start ()
        | _ -> ());
        iter_head_constructor walk code
    | _ -> iter_head_constructor walk code
  in
  walk body;
  List.sort compare (Hashtbl.fold (fun start () all -> start :: all) found [])

(* Whether all functions are in one file: otherwise places do not identify them. *)
let is_of_one_file code =
  let files = Hashtbl.create 2 in
  let rec walk code =
    (match code with
    | Lambda.Lfunction { loc; _ } when place_of loc <> None -> Hashtbl.replace files (file_of loc) ()
    | _ -> ());
    Lambda.iter_head_constructor walk code
  in
  walk code;
  Hashtbl.length files <= 1

(* Calls [each] with all closures of a unit. *)
let of_unit unit_name structure highest_stamp each =
  let open Lambda in
  let environment = environment structure in
  let structure = with_environment environment structure in
  let is_whole = whole_applications environment structure in
  let has_places = ref true and names = ref (Hashtbl.create 0) in
  let with_names id =
    let name = Ident.unique_name id in
    (name, Hashtbl.find_all !names name)
  in
  (* Functions that are defined together have one closure, and their environment is behind them. *)
  let add ~has_name ~is_nested definitions =
    let split (id, { kind; params; return; body; attr; loc }) =
      Simplif.split_default_wrapper ~id ~kind ~params ~return ~body ~attr ~loc
    in
    let definitions = List.concat_map split definitions in
    match functions definitions with
    | None | Some [] -> ()
    | Some ((id, first) :: _ as all) ->
        let free = Ident.Set.elements (free_variables (Lletrec (definitions, lambda_unit))) in
        let words (_, { kind; params; _ }) =
          match (kind, params) with Curried, [ _ ] -> 2 | _ -> 3
        in
        each
          {
            name = (if has_name then Some (Ident.unique_name id) else None);
            place = (if !has_places then place_of first.loc else None);
            (* Headers are between them. *)
            words_before = List.fold_left (fun sum f -> sum + 1 + words f) (-1) all;
            environment = List.map with_names free;
            partial = (if has_name then [] else applications is_whole first.body);
            is_nested;
          }
  in
  let rec walk is_nested code =
    match code with
    | Lfunction f ->
        add ~has_name:false ~is_nested [ (Ident.create_local "fun", f) ];
        walk true f.body
    | Llet (_, _, id, Lfunction f, rest) ->
        add ~has_name:true ~is_nested [ (id, f) ];
        walk is_nested f.body;
        walk is_nested rest
    | Lletrec (definitions, rest) -> (
        match functions definitions with
        | Some all ->
            add ~has_name:true ~is_nested all;
            List.iter (fun (_, { body; _ }) -> walk is_nested body) all;
            walk is_nested rest
        | None -> iter_head_constructor (walk is_nested) code)
    | _ -> iter_head_constructor (walk is_nested) code
  in
  if not Config.flambda then begin
    let code, found = code unit_name structure highest_stamp in
    names := found;
    has_places := is_of_one_file code;
    walk false code
  end
