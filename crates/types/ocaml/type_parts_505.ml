(* What changed between versions of the compiler's Types: parts of types as they are from OCaml 5.5 on. *)

open Types

let tuple parts : type_expr list = List.map snd parts

(* The interface of a first-class module, with the types that it fixes. *)
let package = function
  | Tpackage { pack_path; pack_constraints } -> Some (pack_path, pack_constraints)
  | _ -> None

(* The constructors of a variant type, and whether its values are without a block of their own. *)
let constructors { type_kind; _ } =
  match type_kind with
  | Type_variant (constructors, representation) ->
      Some (constructors, representation = Variant_unboxed)
  | _ -> None
