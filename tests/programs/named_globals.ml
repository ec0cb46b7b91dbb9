(* Global variables of every sort. Each string is the variable's own name and line, so that tests can compare
   what a variable is called with what it holds. *)

let tag name line = String.concat "" [ name; "@"; string_of_int line ]
let plain = tag "plain" __LINE__
let twice = tag "twice" __LINE__
let twice = tag "twice" __LINE__
let left, right = (tag "left" __LINE__, tag "right" __LINE__)

let ({ contents = inside } as whole) = ref (tag "inside" __LINE__)
let quote' = tag "quote'" __LINE__

module Outer = struct
  let deep = tag "Outer.deep" __LINE__

  module Inner = struct
    let deeper = tag "Outer.Inner.deeper" __LINE__
    let twice = tag "Outer.Inner.twice" __LINE__
  end

  exception Failed of string
end

module Sealed : sig
  val shown : string
end = struct
  let secret = tag "Sealed.secret" __LINE__
  let shown = tag "Sealed.shown" __LINE__
  let _ = secret
end

module Make (X : sig val line : int end) = struct
  let made = tag "made" X.line
  let count = ref 0
end

module Made = Make (struct let line = __LINE__ end)
include Make (struct let line = 33 end)

include struct
  let included = tag "included" __LINE__

  module Within = struct
    let found = tag "Within.found" __LINE__
  end
end

open struct
  let opened = tag "opened" __LINE__
end

module rec Even : sig val name : string end = struct let name = tag "Even.name" __LINE__ end
and Odd : sig val name : string end = struct let name = tag "Odd.name" __LINE__ end

module type S = sig val packed : string end

let first_class = (module struct let packed = tag "first_class" __LINE__ end : S)

exception Local of string

class counter = object (self)
  val mutable count = 0
  method get = count
  method next = count <- count + 1; self#get
end

let counter = new counter
let ( >>= ) = let kept = tag ">>=" __LINE__ in fun (a : int) (f : int -> int) -> (kept, f a)
let ( mod ) = ref (tag "mod" __LINE__)

module Alias = Outer.Inner

let after_all = tag "after_all" __LINE__

let () =
  ignore (twice, left, right, inside, whole, quote', Sealed.shown, Made.made, made, count, included);
  ignore (opened, Within.found, Even.name, Odd.name, first_class, counter#next, ( >>= ), ( mod ));
  ignore (Alias.deeper, Named_lib.late, Named_lib.made_value 1, after_all);
  print_endline plain
