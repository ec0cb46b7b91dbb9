(* Routes come and go in a trie. In "leak" removal leaves the inner nodes; "sound" prunes empty ones.
   run leak 100000: Trie_delete.Routes.root grows, allocated in Trie_delete.Routes.node or Trie_delete.Routes.add or Trie_delete.Routes
   run sound 100000: no suspect
   long 400000 *)
module Routes = struct
  type node = { mutable value : string option; children : (char, node) Hashtbl.t }
  let node () = { value = None; children = Hashtbl.create 1 }
  let root = node ()
  let rec add node path at value =
    if at = String.length path then node.value <- Some value
    else
      let child =
        match Hashtbl.find_opt node.children path.[at] with
        | Some child -> child
        | None -> let child = { value = None; children = Hashtbl.create 1 } in Hashtbl.replace node.children path.[at] child; child
      in
      add child path (at + 1) value
  let rec remove leaks node path at =
    if at = String.length path then node.value <- None
    else
      match Hashtbl.find_opt node.children path.[at] with
      | None -> ()
      | Some child ->
        remove leaks child path (at + 1);
        if (not leaks) && child.value = None && Hashtbl.length child.children = 0 then Hashtbl.remove node.children path.[at]
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    let path = string_of_int (i * 7919) in
    Routes.add Routes.root path 0 "handler";
    Routes.remove leaks Routes.root path 0
  done;
  Printf.printf "%d\n" (Hashtbl.length Routes.root.children)
