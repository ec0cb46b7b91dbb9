(* The cache that a functor makes has no bound; the twin drops all at 5,000 entries.
   run leak 300000: Functor_cache grows
   run sound 300000: no suspect
   long 2000000 *)
module Cache (Key : Hashtbl.HashedType) = struct
  module Table = Hashtbl.Make (Key)
  let table : string Table.t = Table.create 64
  let find ~leaks key make =
    match Table.find_opt table key with
    | Some value -> value
    | None ->
      if (not leaks) && Table.length table >= 5000 then Table.reset table;
      let value = make () in
      Table.replace table key value; value
end
module Pages = Cache (struct type t = int let equal = Int.equal let hash i = i land max_int end)
let render i () = Printf.sprintf "<html><body>page %d</body></html>" i
let () =
  let leaks = Sys.argv.(1) = "leak" and sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    sum := !sum + String.length (Pages.find ~leaks i (render i));
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d %d\n" !sum (Pages.Table.length Pages.table)
