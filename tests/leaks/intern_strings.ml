(* Names are interned in a table that keeps all; the twin interns in a weak set.
   OCaml 4.14 inlines [read] and says so for one of its two calls of (^) only.
   run leak 400000: Intern_strings.Names.all grows, allocated in Intern_strings.Names.read or Intern_strings.Names.intern or Intern_strings
   OCaml 5 collects later the larger the heap is, and a weak set grows by what it still has: that does not end.
   run sound 400000 on OCaml 4: no suspect
   run sound 400000 on OCaml 5: Intern_strings grows, allocated in Intern_strings.Names.intern_weakly or Stdlib
   long 1000000 *)
module Strings = struct type t = string let equal = String.equal let hash = Hashtbl.hash end
module Weak_strings = Weak.Make (Strings)
module Names = struct
  let all : (string, string) Hashtbl.t = Hashtbl.create 256
  let weak = Weak_strings.create 256
  let read i = "name-" ^ string_of_int i ^ "-of-a-symbol"
  let intern name =
    match Hashtbl.find_opt all name with Some known -> known | None -> Hashtbl.replace all name name; name
  let intern_weakly name = Weak_strings.merge weak name
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    let name = Names.read i in
    sum := !sum + String.length (if leaks then Names.intern name else Names.intern_weakly name);
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" !sum
