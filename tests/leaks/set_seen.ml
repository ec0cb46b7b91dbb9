(* A set of all that was seen, to drop duplicates; the twin has a set an hour. The module makes the strings.
   run leak 300000: Set_seen.Seen.ids grows, allocated in Set_seen.Seen.add or Set_seen
   run sound 300000: no suspect
   long 2000000 *)
module Strings = Set.Make (String)
module Seen = struct
  let ids = ref Strings.empty
  let add id = if Strings.mem id !ids then false else begin ids := Strings.add id !ids; true end
end
let () =
  let leaks = Sys.argv.(1) = "leak" and fresh = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    if (not leaks) && i mod 10_000 = 0 then Seen.ids := Strings.empty;
    if Seen.add ("id-" ^ string_of_int i) then incr fresh;
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" !fresh
