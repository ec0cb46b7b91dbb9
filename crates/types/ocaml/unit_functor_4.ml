(* What changed between versions of the compiler's Typedtree: here as it was up to OCaml 5.0. *)

(* The functor of an application to [()]: up to here, an application to an empty structure. *)
let applied (_ : Typedtree.module_expr) : Typedtree.module_expr option = None
