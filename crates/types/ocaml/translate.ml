(* Translates the compiler's types to terms. Declarations, extensions and modules that terms speak of get their
   numbers at once, and are translated later. *)

open Term
open Types

(* What type variables mean where a type is. *)
type context = {
  scope : Scope.t;
  (* By the types' numbers. *)
  variables : (int, int) Hashtbl.t;
  mutable next : int;
  (* Whether variables that are not known yet get a number. *)
  mutable binds : bool;
  (* What others are. *)
  unbound : string;
  (* Inside a function, where definitions are that scopes do not have. *)
  is_local : bool;
  (* Types that are being translated, by their numbers: one that contains itself is declared. *)
  under_way : (int, int option ref) Hashtbl.t;
}

let context ?(next = 0) ?(binds = false) ?(unbound = "type variable") ?(is_local = false) scope =
  { scope; is_local; variables = Hashtbl.create 4; next; binds; unbound; under_way = Hashtbl.create 4 }

let left : (unit -> unit) Queue.t = Queue.create ()

(* Translates what was left for later. *)
let rec complete () =
  match Queue.take_opt left with
  | None -> ()
  | Some work ->
      work ();
      complete ()

let undeclared name =
  { name; position = Location.none; variables = 0; parameters = []; definition = Abstract }

(* ---- What is declared in no file. ---- *)

let variables count = List.init count (fun n -> intern (Variable n))
let predefined : (string, int) Hashtbl.t = Hashtbl.create 10

let predefine name count definition =
  let number = push declarations { (undeclared name) with variables = count; parameters = variables count } in
  Hashtbl.replace predefined name number;
  set declarations number { (get declarations number) with definition = definition number }

let unnamed field_type = { label = ""; field_type }

let constructor ?tag constructor_name arguments =
  { constructor_name; tag; arguments = List.map unnamed arguments; result = None }

let () =
  let element () = intern (Variable 0) in
  predefine "list" 1 (fun list ->
      let list = intern (Declared (list, [ element () ])) in
      Variant [ constructor "[]" []; constructor ~tag:0 "::" [ element (); list ] ]);
  predefine "option" 1 (fun _ ->
      Variant [ constructor "None" []; constructor ~tag:0 "Some" [ element () ] ]);
  predefine "exn" 0 (fun _ -> Open);
  predefine "eff" 1 (fun _ -> Open)

let predefined_type name arguments =
  let number =
    match Hashtbl.find_opt predefined name with
    | Some number -> number
    | None ->
        let count = List.length arguments in
        predefine name count (fun _ -> Abstract);
        Hashtbl.find predefined name
  in
  intern (Declared (number, arguments))

(* The exceptions of the runtime. *)
let () =
  let text = intern (Text "string") in
  let number = intern (Constant "int") in
  let place = intern (Tuple [ text; number; number ]) in
  List.iter
    (fun (extension_name, arguments) ->
      let extension_arguments = List.map unnamed arguments in
      let of_type = Hashtbl.find predefined "exn" in
      ignore
        (push extensions
           { extension_name; of_type; extension_arguments; extension_result = None; is_record = false }))
    [
      ("Out_of_memory", []);
      ("Sys_error", [ text ]);
      ("Failure", [ text ]);
      ("Invalid_argument", [ text ]);
      ("End_of_file", []);
      ("Division_by_zero", []);
      ("Not_found", []);
      ("Match_failure", [ place ]);
      ("Stack_overflow", []);
      ("Sys_blocked_io", []);
      ("Assert_failure", [ place ]);
      ("Undefined_recursive_module", [ place ]);
    ]

(* ---- Types. ---- *)

let declared_numbers : (int, int) Hashtbl.t = Hashtbl.create 10_000
let extension_numbers : (int, int) Hashtbl.t = Hashtbl.create 1_000
let package_numbers : (int * string * (string list * int) list, int) Hashtbl.t = Hashtbl.create 100

let rec term context ty =
  match Type_view.view ty with
  | Variant _ | Object _ when Hashtbl.mem context.variables (Type_view.id ty) ->
      intern (Variable (Hashtbl.find context.variables (Type_view.id ty)))
  | Variable -> (
      let id = Type_view.id ty in
      match Hashtbl.find_opt context.variables id with
      | Some number -> intern (Variable number)
      | None when context.binds ->
          let number = context.next in
          context.next <- number + 1;
          Hashtbl.replace context.variables id number;
          intern (Variable number)
      | None -> unknown context.unbound)
  | Polymorphic ty -> term context ty
  | Other -> unknown "a type of another kind"
  | Constructor (path, []) -> named context path []
  | view -> (
      let id = Type_view.id ty in
      match Hashtbl.find_opt context.under_way id with
      | Some ({ contents = None } as self) ->
          let number = push declarations (undeclared (Slot.type_text ty)) in
          self := Some number;
          intern (Declared (number, variables context.next))
      | Some { contents = Some number } ->
          let count = (get declarations number).variables in
          intern (Declared (number, variables (max count context.next)))
      | None -> (
          let self = ref None in
          Hashtbl.replace context.under_way id self;
          let bound = context.next in
          let whole = structural context view in
          Hashtbl.remove context.under_way id;
          match !self with
          | None -> whole
          | Some number ->
              let parameters = variables bound in
              let name = "(" ^ (get declarations number).name ^ ")" in
              set declarations number
                { (undeclared name) with variables = bound; parameters; definition = Alias whole };
              intern (Declared (number, parameters))))

and structural context = function
  | Arrow (label, argument, result) ->
      let argument = term context argument in
      intern (Arrow (label, argument, term context result))
  | Tuple parts -> intern (Tuple (List.map (term context) parts))
  | Constructor (path, arguments) -> named context path arguments
  | Object methods ->
      let methods = List.sort compare_names methods in
      intern (Object (List.map (fun (name, ty) -> (name, term context ty)) methods))
  | Variant tags ->
      let tags = List.sort compare_names tags in
      intern (Polymorphic_variant (List.map (fun (name, ty) -> (name, Option.map (term context) ty)) tags))
  | Package (path, constraints) -> (
      let constraints = List.map (fun (name, ty) -> (name, ty, term context ty)) constraints in
      try intern (Package (package context.scope path constraints))
      with Scope.Unresolved reason -> unresolved context reason)
  | _ -> unknown "a type of another kind"

and unresolved context reason = unknown (if context.is_local then "local type" else reason)

and compare_names : 'a. string * 'a -> string * 'a -> int = fun (a, _) (b, _) -> compare a b

and named context path arguments =
  match path with
  | Pident id when Ident.is_predef id -> (
      let arguments = List.map (term context) arguments in
      match (Ident.name id, arguments) with
      | (("int" | "char" | "bool" | "unit") as name), _ -> intern (Constant name)
      | (("string" | "bytes") as name), _ -> intern (Text name)
      | "float", _ -> intern Float
      | "floatarray", _ -> intern Float_array
      | (("int32" | "int64" | "nativeint") as name), _ -> intern (Boxed name)
      | ("array" | "iarray"), [ element ] -> intern (Array element)
      | "lazy_t", [ element ] -> intern (Lazy element)
      | name, arguments -> predefined_type name arguments)
  | _ -> (
      match Evaluate.type_at context.scope path with
      | { scope = { is_parameter = true; _ };
          body = Declaration ({ type_manifest = None; _ } as declaration); _ }
        when Type_view.kind declaration = Abstract ->
          unknown "type of a functor's parameter"
      | declared -> intern (Declared (declaration declared, List.map (term context) arguments))
      | exception Scope.Unresolved reason -> unresolved context reason)

(* A declaration's number. *)
and declaration (declared : Scope.declared) =
  match Hashtbl.find_opt declared_numbers declared.key with
  | Some number -> number
  | None ->
      let number = push declarations (undeclared declared.name) in
      Hashtbl.replace declared_numbers declared.key number;
      Queue.push (fun () -> set declarations number (declare declared)) left;
      number

(* A parameter that is constrained to a variant or to an object with more methods, [constraint 'a = [> `X ]], stands for
   its argument: that may have more tags or methods than the constraint. *)
and parameter context ty =
  match Type_view.view ty with
  | (Variant _ | Object _) when Type_view.may_have_more ty ->
      let number = context.next in
      context.next <- number + 1;
      Hashtbl.replace context.variables (Type_view.id ty) number;
      intern (Variable number)
  | _ -> term context ty

and declare (declared : Scope.declared) =
  let none = undeclared declared.name in
  match declared.body with
  | Equal ty -> { none with definition = Alias (term (context declared.scope) ty) }
  | Class (parameters, self) ->
      let context = context ~binds:true declared.scope in
      let parameters = List.map (parameter context) parameters in
      context.binds <- false;
      let definition = Alias (term context self) in
      { none with variables = context.next; parameters; definition }
  | Declaration declaration ->
      let context = context ~binds:true declared.scope in
      let parameters = List.map (parameter context) declaration.type_params in
      context.binds <- false;
      let definition = define declared context declaration in
      { none with position = declaration.type_loc; variables = context.next; parameters; definition }

and define declared context declaration =
  let manifest = Option.map (term context) declaration.type_manifest in
  let is_known number = match get terms number with Unknown _ -> false | _ -> true in
  let field { ld_id; ld_type; _ } =
    { label = Ident.name ld_id; field_type = term context ld_type }
  in
  match (Type_view.kind declaration, manifest) with
  | _, Some manifest when is_known manifest -> Alias manifest
  | Unboxed_record { ld_type; _ }, _ -> Unboxed (term context ld_type)
  | Record (labels, is_floats), _ -> Record (List.map field labels, is_floats)
  | Unboxed_constructor { cd_args; cd_res; _ }, _ -> (
      let context, _ = of_constructor context cd_res in
      match cd_args with
      | Cstr_tuple [ ty ] -> Unboxed (term context ty)
      | Cstr_record [ { ld_type; _ } ] -> Unboxed (term context ld_type)
      | _ -> Abstract)
  | Constructors constructors, _ ->
      let blocks = ref 0 in
      Variant
        (List.map
           (fun { cd_id; cd_args; cd_res; _ } ->
             let context, result = of_constructor context cd_res in
             let tag =
               match cd_args with
               | Cstr_tuple [] -> None
               | _ ->
                   incr blocks;
                   Some (!blocks - 1)
             in
             let arguments = arguments context cd_args in
             { constructor_name = Ident.name cd_id; tag; arguments; result })
           constructors)
  | Extensible, _ -> Open
  | Abstract, Some manifest -> Alias manifest
  | Abstract, None -> (
      (* Known to the compiler alone. *)
      match (declared.Scope.name, declaration.type_params) with
      | ("Atomic.t" | "atomic_t"), [ parameter ] ->
          Record ([ unnamed (term context parameter) ], false)
      | _ -> Abstract)

(* What variables mean in a constructor that says what type it results in, and the arguments of that type. *)
and of_constructor context = function
  | None -> (context, None)
  | Some result ->
      let own = { context with variables = Hashtbl.create 4; binds = true; unbound = "existential type" } in
      let patterns =
        match Type_view.view result with
        | Constructor (_, arguments) -> List.map (term own) arguments
        | _ -> []
      in
      own.binds <- false;
      (own, Some patterns)

and arguments context = function
  | Cstr_tuple types -> List.map (fun ty -> unnamed (term context ty)) types
  | Cstr_record labels ->
      List.map
        (fun { ld_id; ld_type; _ } -> { label = Ident.name ld_id; field_type = term context ld_type })
        labels

(* ---- Extensions. ---- *)

and extension_number (extension : Scope.extension) =
  match Hashtbl.find_opt extension_numbers extension.ext_key with
  | Some number -> number
  | None ->
      let extension_name = extension.ext_name in
      let number =
        push extensions
          { extension_name; of_type = 0; extension_arguments = []; extension_result = None; is_record = false }
      in
      Hashtbl.replace extension_numbers extension.ext_key number;
      Queue.push (fun () -> set extensions number (extend extension)) left;
      number

and extend { ext_name; ext_scope; ext; _ } =
  let context = context ~binds:true ext_scope in
  List.iter (fun ty -> ignore (term context ty)) ext.ext_type_params;
  context.binds <- false;
  let of_type =
    match named context ext.ext_type_path ext.ext_type_params |> get terms with
    | Declared (number, _) -> number
    | _ -> push declarations (undeclared (Slot.path_text ext.ext_type_path))
  in
  let context, extension_result = of_constructor context ext.ext_ret_type in
  let extension_arguments = arguments context ext.ext_args in
  let is_record = match ext.ext_args with Cstr_record _ -> true | Cstr_tuple _ -> false in
  { extension_name = ext_name; of_type; extension_arguments; extension_result; is_record }

(* ---- Modules. ---- *)

(* The module of a first-class module's type. *)
and package scope path constraints =
  let ({ Scope.within; type_path; meaning } as found) = Evaluate.module_type_at scope path in
  let key = (within.number, type_path, List.map (fun (name, _, number) -> (name, number)) constraints) in
  match Hashtbl.find_opt package_numbers key with
  | Some number -> number
  | None ->
      let number = push modules { path = type_path; slots = [] } in
      Hashtbl.replace package_numbers key number;
      Queue.push
        (fun () ->
          let constraints = List.map (fun (name, ty, _) -> (name, ty)) constraints in
          let value = Evaluate.of_package scope found constraints in
          set modules number { path = type_path; slots = slots_of_type within meaning value })
        left;
      number

(* A module's block, as its type lays it out; [value] is what is known of its contents. *)
and slots_of_type scope (meaning : Types.module_type) value =
  match meaning with
  | Mty_signature signature -> slots_of_signature scope signature value
  | Mty_ident path -> (
      match Evaluate.module_type_at scope path with
      | { within; meaning; _ } -> slots_of_type within meaning value
      | exception Scope.Unresolved _ -> [])
  | _ -> []

and slots_of_signature up signature value =
  let scope = Scope.create ~up "" in
  Evaluate.bind_signature scope ~inner:(lazy value) signature;
  Layout.of_signature Layout.top signature
  |> List.filter Layout.has_slot
  |> List.map (fun (item : Layout.item) ->
         let known =
           match (value, item.content) with
           | Scope.Structure inner, Value_of _ -> (
               let name = Layout.name_of item in
               match Hashtbl.find_opt inner.values name with
               | Some found -> value_content (Scope.force found)
               | None -> Nothing_known)
           | _ -> Nothing_known
         in
         (item.slot, match known with Nothing_known -> content scope item | known -> known))

and value_content (scope, ty) = Value (term (context scope) ty)

(* What a slot holds whose definition is in this scope. *)
and content scope (item : Layout.item) =
  match (item.content, item.id) with
  | Nothing_known, _ | _, None -> Nothing_known
  | Value_of ty, _ -> value_content (scope, ty)
  | Extension_of ext, Some id -> (
      match Scope.find scope id with
      | Some (Extension extension) -> Extension (extension_number (Scope.force extension))
      | _ -> Extension (extension_number (Scope.declare_extension scope (Ident.name id) ext)))
  | Module_of meaning, Some id -> (
      match Scope.find scope id with
      | Some (Module value) -> module_content scope meaning (Evaluate.value_of value)
      | _ -> Nothing_known)

and module_content scope meaning value =
  match (meaning, value) with
  | (Types.Mty_functor _, _ | _, Scope.Functor _) -> Value (intern Function)
  | Mty_alias _, _ -> Nothing_known
  | _ ->
      let path = match Evaluate.path_of value with Some path -> path | None -> "" in
      let number = push modules { path; slots = [] } in
      Queue.push
        (fun () -> set modules number { path; slots = slots_of_type scope meaning value })
        left;
      Module number
