(* Functions that put a constant behind a string: [let mangle name = name ^ "-SUMMARY"]. *)

open Typedtree

let known : string Bindings.t = Bindings.create 20

(* What is put behind the string in the only expression of a body that is a call, if that is all that the call does. *)
let suffix scope expression =
  let calls = ref [] in
  Expressions.each
    (fun inner -> match inner.exp_desc with Texp_apply _ -> calls := inner :: !calls | _ -> ())
    expression;
  match List.map Expressions.inside !calls with
  | [ [ { exp_desc = Texp_ident (path, _, _); _ }; { exp_desc = Texp_ident (Pident _, _, _); _ }; last ] ]
    when Path.last path = "^" ->
      Strings.constant scope last
  | _ -> None

let is_string ty =
  match Type_view.view ty with Constructor (path, []) -> Path.same path Predef.path_string | _ -> false

let find scope item =
  Bindings.each_value
    (fun id ty expression ->
      match Type_view.view ty with
      | Arrow ("", argument, result) when is_string argument && is_string result ->
          Option.iter (Bindings.add known scope id) (suffix scope expression)
      | _ -> ())
    item

(* What is put behind a name among the arguments of a call: of [create (mangle name)], ["-SUMMARY"]. *)
let in_arguments scope call =
  let of_argument argument =
    match (argument.exp_desc, Expressions.inside argument) with
    | Texp_apply _, { exp_desc = Texp_ident (path, _, _); _ } :: _ -> Bindings.find known scope path
    | _ -> None
  in
  match List.filter_map of_argument (Expressions.inside call) with [ suffix ] -> suffix | _ -> ""
