(* What `named_globals.ml` is linked with: its interface has another order, hides values, and makes a
   primitive a value. *)

let tag name line = String.concat "" [ name; "@"; string_of_int line ]
let hidden_first = tag "hidden_first" __LINE__
let early = tag "early" __LINE__
let again = tag "again" __LINE__
let late = tag "late" __LINE__

external untouched : 'a -> 'a = "%identity"
external made_value : 'a -> 'a = "%identity"

module Sub = struct
  let secret = tag "Sub.secret" __LINE__
  let shown = tag "Sub.shown" __LINE__
end

open struct
  let again = tag "again" __LINE__
  let opened = tag "opened" __LINE__
end

let again = tag "again" __LINE__
let _ = (again, opened, Sub.secret, hidden_first)
