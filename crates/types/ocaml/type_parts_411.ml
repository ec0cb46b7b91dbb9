(* What changed between versions of the compiler's Types: parts of types as they were up to OCaml 4.12. *)

open Types

let tuple parts : type_expr list = parts

(* The interface of a first-class module, with the types that it fixes. *)
let package = function
  | Tpackage (path, names, types) ->
      Some (path, List.combine (List.map Longident.flatten names) types)
  | _ -> None

(* The constructors of a variant type, and whether its values are without a block of their own. *)
let constructors { type_kind; type_unboxed; _ } =
  match type_kind with
  | Type_variant constructors -> Some (constructors, type_unboxed.unboxed)
  | _ -> None
