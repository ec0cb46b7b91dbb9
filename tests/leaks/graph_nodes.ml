(* A graph whose old nodes stay linked from new ones; the twin cuts the link to the one before the last.
   run leak 400000: Graph_nodes.Chain.last grows, allocated in Graph_nodes.Chain.append
   run sound 400000: no suspect
   long 2000000 *)
module Chain = struct
  type node = { id : int; text : string; mutable previous : node option }
  let last = ref { id = 0; text = ""; previous = None }
  let append ~leaks i =
    let node = { id = i; text = Printf.sprintf "block %d" i; previous = Some !last } in
    if not leaks then !last.previous <- None;
    last := node
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Chain.append ~leaks i;
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" !Chain.last.id
