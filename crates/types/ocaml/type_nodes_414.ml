(* What changed between versions of the compiler's Types: nodes of types as they are from OCaml 4.14 on. *)

open Types

(* From OCaml 5.5 on, arguments of functions are written as polymorphic types, also those without variables. *)
let rec inside ty = match get_desc ty with Tpoly (ty, []) -> inside ty | _ -> ty
let id ty = get_id (inside ty)
let desc ty = get_desc (inside ty)
let row_fields = row_fields

(* What a polymorphic variant's tag has: [None] if it is absent. A tag that may be there with one of several
   arguments has the first one: they are to be equal. *)
let tag_argument field =
  match row_field_repr field with
  | Rpresent argument -> Some argument
  | Reither (_, argument :: _, _) -> Some (Some argument)
  | Reither (_, [], _) -> Some None
  | Rabsent -> None
