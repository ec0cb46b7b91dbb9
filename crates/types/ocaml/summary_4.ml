(* What changed between versions of the compiler's Env: a functor's argument in a summary, up to OCaml 5.4. *)
let before_argument : Env.summary -> Env.summary option = function
  | Env_functor_arg (rest, _) -> Some rest
  | _ -> None

