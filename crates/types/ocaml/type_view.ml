(* Types and their declarations by what values of them are, the same for all versions of the compiler. *)

open Types

type t =
  | Variable
  (* The label with its punctuation, as types are written: [x:], [?x:], or nothing. Of an optional argument, the type
     that callers give. *)
  | Arrow of string * type_expr * type_expr
  | Tuple of type_expr list
  | Constructor of Path.t * type_expr list
  | Object of (string * type_expr) list
  | Variant of (string * type_expr option) list
  | Package of Path.t * (string list * type_expr) list
  | Polymorphic of type_expr
  | Other

(* What a declaration is. *)
type kind =
  | Abstract
  | Record of label_declaration list * bool  (* all of them are floats *)
  | Unboxed_record of label_declaration
  | Constructors of constructor_declaration list
  | Unboxed_constructor of constructor_declaration
  | Extensible

let id = Type_nodes.id

let rec methods found ty =
  match Type_nodes.desc ty with
  | Tfield (name, _, ty, rest) -> methods ((name, ty) :: found) rest
  | _ -> List.rev found

(* True for types that stand for others with more methods, [< m : t; .. >], or other tags. *)
let rec may_have_more ty =
  match Type_nodes.desc ty with
  | Tobject (rest, _) | Tfield (_, _, _, rest) -> may_have_more rest
  | Tnil -> false
  | _ -> true

let tag (name, field) =
  Option.map (fun argument -> (name, argument)) (Type_nodes.tag_argument field)

let given argument =
  match Type_nodes.desc argument with
  | Tconstr (path, [ ty ], _) when Path.same path Predef.path_option -> ty
  | _ -> argument

let view ty =
  match Type_nodes.desc ty with
  | Tvar _ | Tunivar _ -> Variable
  | Tarrow (label, argument, result, _) -> (
      match label with
      | Nolabel -> Arrow ("", argument, result)
      | Labelled name -> Arrow (name ^ ":", argument, result)
      | Optional name -> Arrow ("?" ^ name ^ ":", given argument, result))
  | Ttuple parts -> Tuple (Type_parts.tuple parts)
  | Tconstr (path, arguments, _) -> Constructor (path, arguments)
  | Tobject (fields, _) -> Object (methods [] fields)
  | Tvariant row -> Variant (List.filter_map tag (Type_nodes.row_fields row))
  | Tpoly (ty, _) -> Polymorphic ty
  | other -> (
      match Type_parts.package other with
      | Some (path, constraints) -> Package (path, constraints)
      | None -> Other)

let kind declaration =
  match (declaration.type_kind, Type_parts.constructors declaration) with
  | Type_record ([ label ], Record_unboxed _), _ -> Unboxed_record label
  | Type_record (labels, representation), _ -> Record (labels, representation = Record_float)
  | _, Some ([ constructor ], true) -> Unboxed_constructor constructor
  | _, Some (constructors, _) -> Constructors constructors
  | Type_open, _ -> Extensible
  | _ -> Abstract
