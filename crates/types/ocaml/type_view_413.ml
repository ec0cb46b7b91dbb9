(* What changed between versions of the compiler's Types: here as it was in OCaml 4.13. *)

open Types

type t =
  | Variable
  | Arrow
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

let id ty = (Btype.repr ty).id
let get_desc ty = (Btype.repr ty).desc

let rec methods found ty =
  match get_desc ty with
  | Tfield (name, _, ty, rest) -> methods ((name, ty) :: found) rest
  | _ -> List.rev found

(* A tag that may be there with one of several arguments has the first one: they are to be equal. *)
let tag (name, field) =
  match Btype.row_field_repr field with
  | Rpresent argument -> Some (name, argument)
  | Reither (_, argument :: _, _, _) -> Some (name, Some argument)
  | Reither (_, [], _, _) -> Some (name, None)
  | Rabsent -> None

let view ty =
  match get_desc ty with
  | Tvar _ | Tunivar _ -> Variable
  | Tarrow _ -> Arrow
  | Ttuple parts -> Tuple parts
  | Tconstr (path, arguments, _) -> Constructor (path, arguments)
  | Tobject (fields, _) -> Object (methods [] fields)
  | Tvariant row -> Variant (List.filter_map tag (Btype.row_repr row).row_fields)
  | Tpackage (path, constraints) ->
      Package (path, List.map (fun (name, ty) -> (Longident.flatten name, ty)) constraints)
  | Tpoly (ty, _) -> Polymorphic ty
  | _ -> Other

let kind { type_kind; _ } =
  match type_kind with
  | Type_record ([ label ], Record_unboxed _) -> Unboxed_record label
  | Type_record (labels, representation) -> Record (labels, representation = Record_float)
  | Type_variant ([ constructor ], Variant_unboxed) -> Unboxed_constructor constructor
  | Type_variant (constructors, _) -> Constructors constructors
  | Type_open -> Extensible
  | _ -> Abstract
