(* Functions as the flow of types needs them: by their symbols and places, with the types of what they capture. *)

(* Between a unit's name and a function's in symbols. *)
let separator =
  match String.split_on_char '.' Sys.ocaml_version with
  | major :: minor :: _ when (int_of_string major, int_of_string minor) >= (5, 1) -> "."
  | _ -> "__"

(* As the compiler writes a name in assembly. *)
let escaped name =
  let buffer = Buffer.create 30 in
  let add = function
    | ('a' .. 'z' | 'A' .. 'Z' | '0' .. '9' | '_') as c -> Buffer.add_char buffer c
    | c -> Printf.bprintf buffer "$%02x" (Char.code c)
  in
  String.iter add name;
  Buffer.contents buffer

(* Without its number. *)
let plain unique =
  match String.rindex_opt unique '_' with Some i -> String.sub unique 0 i | None -> unique

let module_ scope meaning id =
  match Scope.find scope id with
  | Some (Module value) -> (
      match Translate.module_content scope meaning (Evaluate.value_of value) with
      | Value number -> Some number
      | Module number -> Some (Term.intern (Package number))
      | Extension _ | Nothing_known -> None)
  | _ -> None

let of_unit unit_name scope structure =
  let variables = Variables.of_structure scope structure in
  let highest = Hashtbl.fold (fun name _ highest -> max highest (Closures.stamp name)) variables 0 in
  let ty unique =
    match Hashtbl.find_opt variables unique with
    | Some { holds = Value ty; scope; _ } ->
        Some (Translate.term (Translate.context ~is_local:true scope) ty)
    | Some { holds = Module meaning; id; scope } -> module_ scope meaning id
    | Some { holds = Nothing_known; _ } | None -> None
  in
  let variable (unique, other_names) =
    let of_others () =
      match List.sort_uniq compare (List.map ty other_names) with [ only ] -> only | _ -> None
    in
    (plain unique, if Hashtbl.mem variables unique then ty unique else of_others ())
  in
  Closures.of_unit unit_name structure highest
    (fun { Closures.name; place; words_before; environment; partial; is_nested } ->
      let is_anonymous = name = None in
      let name = match name with Some unique -> escaped unique | None -> "fun" in
      let symbol = unit_name ^ separator ^ name in
      let environment = List.map variable environment in
      if environment <> [] || is_anonymous || is_nested then
        ignore
          (Term.push Term.functions
             { Term.symbol; is_anonymous; place; words_before; environment; partial }))
