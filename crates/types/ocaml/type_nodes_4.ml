(* What changed between versions of the compiler's Types: nodes of types as they were up to OCaml 4.13. *)

open Types

let id ty = (Btype.repr ty).id
let desc ty = (Btype.repr ty).desc
let row_fields row = (Btype.row_repr row).row_fields

(* What a polymorphic variant's tag has: [None] if it is absent. A tag that may be there with one of several
   arguments has the first one: they are to be equal. *)
let tag_argument field =
  match Btype.row_field_repr field with
  | Rpresent argument -> Some argument
  | Reither (_, argument :: _, _, _) -> Some (Some argument)
  | Reither (_, [], _, _) -> Some None
  | Rabsent -> None
