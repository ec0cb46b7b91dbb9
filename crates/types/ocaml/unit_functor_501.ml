(* What changed between versions of the compiler's Typedtree: here as it is from OCaml 5.1 on. *)

open Typedtree

(* The functor of an application to [()]. *)
let applied me = match me.mod_desc with Tmod_apply_unit f -> Some f | _ -> None
