(* Expressions inside others, the same for all versions of the compiler. *)

open Typedtree

(* Calls [each] with an expression and all those inside. *)
let each each expression =
  let expr sub expression =
    each expression;
    Tast_iterator.default_iterator.expr sub expression
  in
  let iterator = { Tast_iterator.default_iterator with expr } in
  iterator.expr iterator expression

(* The expressions right inside one. *)
let inside expression =
  let found = ref [] in
  let expr _ inner = found := inner :: !found in
  Tast_iterator.default_iterator.expr { Tast_iterator.default_iterator with expr } expression;
  List.rev !found
