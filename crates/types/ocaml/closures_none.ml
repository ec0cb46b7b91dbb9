(* For compilers whose intermediate code is not known: nothing is said of closures. *)

type closure = {
  name : string option;
  place : ((int * int) * (int * int)) option;
  words_before : int;
  environment : (string * string list) list;
  partial : (int * int) list;
  is_nested : bool;
}

let stamp _ = 0
let prepare _ = ()
let of_unit _ _ _ _ = ()
