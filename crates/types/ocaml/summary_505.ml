(* What changed between versions of the compiler's Env: a functor's argument in a summary, from OCaml 5.5 on. *)
let before_argument : Env.summary -> Env.summary option = function
  | Env_not_aliasable (rest, _) -> Some rest
  | _ -> None

