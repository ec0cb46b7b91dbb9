(* Scopes: what identifiers mean inside a structure, a signature or a functor's body. They are filled
   when they are made, and what they hold is evaluated when it is needed. *)

type t = {
  number : int;
  (* Readable: [Cache.Table], [Map.Make(String)]; empty for the standard library's own scope. *)
  path : string;
  up : t option;
  (* By unique names, which have the compiler's stamp. *)
  idents : (string, entity) Hashtbl.t;
  (* By names: the last definition. *)
  types : (string, declared Lazy.t) Hashtbl.t;
  modules : (string, module_value Lazy.t) Hashtbl.t;
  module_types : (string, module_type Lazy.t) Hashtbl.t;
  values : (string, (t * Types.type_expr) Lazy.t) Hashtbl.t;
  extensions : (string, extension Lazy.t) Hashtbl.t;
  (* Of a functor's parameter, where its argument is not known: abstract types stand for anything. *)
  is_parameter : bool;
  (* Structures without a name, which are included or opened. *)
  mutable anonymous : (Typedtree.structure * module_value Lazy.t) list;
}

and entity =
  | Type of declared Lazy.t
  | Module of module_value Lazy.t
  | Module_type of module_type Lazy.t
  | Extension of extension Lazy.t

and module_type = { within : t; type_path : string; meaning : Types.module_type }

(* A declared type. *)
and declared = { key : int; name : string; scope : t; body : body }

and body =
  | Declaration of Types.type_declaration
  (* Of a class, or a class's type: its parameters, and the type of its objects. *)
  | Class of Types.type_expr list * Types.type_expr
  (* Without parameters, equal to a type in the scope. *)
  | Equal of Types.type_expr

and extension = { ext_key : int; ext_name : string; ext_scope : t; ext : Types.extension_constructor }

and module_value = Structure of t | Functor of functor_ | Unknown of string

and functor_ = {
  functor_number : int;
  functor_path : string;
  apply : module_value -> string -> module_value;
  (* By the argument's number. *)
  results : (int, module_value) Hashtbl.t;
}

exception Unresolved of string

let last_number = ref 0

let next () =
  incr last_number;
  !last_number

let create ?up ?(is_parameter = false) path =
  {
    is_parameter;
    number = next ();
    path;
    up;
    idents = Hashtbl.create 8;
    types = Hashtbl.create 8;
    modules = Hashtbl.create 8;
    module_types = Hashtbl.create 8;
    values = Hashtbl.create 8;
    extensions = Hashtbl.create 8;
    anonymous = [];
  }

let inside path name = if path = "" then name else path ^ "." ^ name
let name_in scope name = inside scope.path name

(* What a definition leads to may lead back to it. *)
let force value = try Lazy.force value with Lazy.Undefined -> raise (Unresolved "cycle of definitions")

let rec find_named scope name =
  match Hashtbl.find_opt scope.idents name with
  | Some entity -> Some entity
  | None -> ( match scope.up with Some up -> find_named up name | None -> None)

let find scope id = find_named scope (Ident.unique_name id)

let add_type scope id declared =
  Hashtbl.replace scope.idents (Ident.unique_name id) (Type declared);
  Hashtbl.replace scope.types (Ident.name id) declared

let add_module scope id value =
  Hashtbl.replace scope.idents (Ident.unique_name id) (Module value);
  Hashtbl.replace scope.modules (Ident.name id) value

let add_module_type scope id meaning =
  Hashtbl.replace scope.idents (Ident.unique_name id) (Module_type meaning);
  Hashtbl.replace scope.module_types (Ident.name id) meaning

let add_value scope name value = Hashtbl.replace scope.values name value

let add_extension scope id extension =
  Hashtbl.replace scope.idents (Ident.unique_name id) (Extension extension);
  Hashtbl.replace scope.extensions (Ident.name id) extension

let declare scope name body = { key = next (); name = name_in scope name; scope; body }

let declare_extension scope name ext =
  { ext_key = next (); ext_name = name_in scope name; ext_scope = scope; ext }

(* A unit's name as programs write it: [Stdlib__Hashtbl] is [Hashtbl], [Lib__Cache] is [Lib.Cache]. *)
let readable_unit name =
  let prefix = "Stdlib__" in
  let n = String.length prefix in
  if name = "Stdlib" then ""
  else
    let name =
      if String.length name > n && String.sub name 0 n = prefix then
        String.capitalize_ascii (String.sub name n (String.length name - n))
      else name
    in
    Slot.replace_all name "__" "."
