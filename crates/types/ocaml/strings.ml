(* Constant strings of expressions, those that variables stand for among them. *)

open Typedtree

(* Variables that are constant strings. *)
let named : string Bindings.t = Bindings.create 100

let find scope item =
  Bindings.each_value
    (fun id _ expression ->
      match expression.exp_desc with
      | Texp_constant (Const_string (text, _, _)) -> Bindings.add named scope id text
      | _ -> ())
    item

(* The constant that an expression is. *)
let constant scope expression =
  match expression.exp_desc with
  | Texp_constant (Const_string (text, _, _)) -> Some text
  | Texp_ident (path, _, _) -> Bindings.find named scope path
  | _ -> None

(* All constants in an expression, each once. *)
let constants scope expression =
  let found = ref [] in
  Expressions.each
    (fun inner -> Option.iter (fun text -> found := text :: !found) (constant scope inner))
    expression;
  List.sort_uniq compare !found
