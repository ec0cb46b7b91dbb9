(* What changed between versions of the compiler's Types: parts of types as they were from OCaml 4.13 to 5.3. *)

open Types

let tuple parts : type_expr list = parts

(* The interface of a first-class module, with the types that it fixes. *)
let package = function
  | Tpackage (path, constraints) ->
      Some (path, List.map (fun (name, ty) -> (Longident.flatten name, ty)) constraints)
  | _ -> None

(* The constructors of a variant type, and whether its values are without a block of their own. *)
let constructors { type_kind; _ } =
  match type_kind with
  | Type_variant (constructors, representation) ->
      Some (constructors, representation = Variant_unboxed)
  | _ -> None
