(* Prints of closures what their environments hold: each variable's value is its name, or a function. *)

let show name closure =
  let closure = Obj.repr closure in
  let field i =
    let value = Obj.field closure i in
    if Obj.is_int value then "(int)"
    else if Obj.tag value = Obj.string_tag then (Obj.obj value : string)
    else if Obj.tag value = Obj.closure_tag then "(function)"
    else if Obj.tag value = 0 && Obj.size value = 1 then (Obj.obj (Obj.field value 0) : string)
    else "(other)"
  in
  (* Code pointers and words of arity are odd or outside the heap: the test says how many. *)
  let size = Obj.size closure in
  Printf.printf "%s %d" name size;
  fun start ->
    for i = start to size - 1 do
      Printf.printf " %s" (field i)
    done;
    print_newline ()

module type Equality = sig
  type t
  val equal : t -> t -> bool
  val hash : t -> int
end

module Text = struct
  include String
  let hash = Hashtbl.hash
end

let opaque = Sys.opaque_identity
let global = opaque "global"

let one b a =
  let first x = ignore (opaque x); a ^ b ^ global in
  show "first" first 2

let two z (y : string) x =
  let second p q = ignore (opaque (p, q)); opaque (x ^ z), y in
  show "second" second 3

let recursive list other =
  let rec loop n acc = if n = 0 then acc ^ list else loop (n - 1) (acc ^ other) in
  show "loop" loop 3

let patterns pair =
  let (left, right) = opaque pair in
  match opaque (Some ("some", "inner")) with
  | Some (some, inner) ->
      let third () = opaque (right ^ some ^ left ^ inner) in
      show "third" third 2
  | None -> ()

let calls helper_text text =
  let helper s = opaque (s ^ helper_text) in
  let fourth s = helper (s ^ text) in
  show "fourth" fourth 2;
  show "helper" helper 2

let tupled one two =
  let fifth (a, b) = opaque (a ^ b ^ two ^ one) in
  show "fifth" fifth 3

let modules (module M : Equality with type t = string) text =
  let sixth a = opaque (M.equal a text) in
  show "sixth" sixth 2

let reference r =
  let cell = ref (opaque "cell") in
  let seventh s = cell := s; opaque (!cell ^ r) in
  show "seventh" seventh 2;
  cell := "cell"

module Inner = struct
  let hidden = opaque "hidden"
  let inner captured =
    let eighth () = opaque (captured ^ hidden ^ global) in
    show "eighth" eighth 2
end

let () =
  one "b" "a";
  two "z" "y" "x";
  recursive "list" "other";
  patterns ("left", "right");
  calls "helper_text" "text";
  tupled "one" "two";
  modules (module Text) "text";
  reference "r";
  Inner.inner "captured"
