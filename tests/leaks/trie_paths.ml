(* A trie of all paths that were ever asked for; the twin asks for the same thousand.
   run leak 200000: Trie_paths.Router.root grows, allocated in Trie_paths.Trie.empty or Trie_paths.Trie.add or Trie_paths.Router
   run sound 200000: no suspect
   long 1000000 *)
module Trie = struct
  type t = { mutable hits : int; children : (string, t) Hashtbl.t }
  let empty () = { hits = 0; children = Hashtbl.create 1 }
  let rec add t = function
    | [] -> t.hits <- t.hits + 1
    | word :: rest ->
      let child = match Hashtbl.find_opt t.children word with
        | Some child -> child
        | None -> let child = empty () in Hashtbl.replace t.children word child; child in
      add child rest
end
module Router = struct
  let root = Trie.empty ()
  let ask i = Trie.add root [ "shop"; "item"; string_of_int (i / 10); "page" ^ string_of_int (i mod 10) ]
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Router.ask (if leaks then i else i mod 1000);
    ignore (Sys.opaque_identity (List.init 60 string_of_int))
  done;
  Printf.printf "%d\n" (Hashtbl.length Router.root.children)
