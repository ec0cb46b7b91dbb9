(* Each batch builds a large tree and drops it; the leak keeps a summary that refers to the tree.
   run leak 60: Batches.Report.summaries grows, allocated in Batches.Tree.build
   run sound 60: no suspect
   long 700 *)
module Tree = struct
  type t = Leaf | Node of t * string * t
  let rec build depth i = if depth = 0 then Leaf else Node (build (depth - 1) (2 * i), string_of_int i, build (depth - 1) ((2 * i) + 1))
  let rec size = function Leaf -> 0 | Node (l, _, r) -> 1 + size l + size r
end
module Report = struct
  type summary = { batch : int; size : int; first : Tree.t Lazy.t }
  let summaries : summary list ref = ref []
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for batch = 1 to int_of_string Sys.argv.(2) do
    let tree = Tree.build 13 batch in
    let size = Tree.size tree in
    let first = if leaks then lazy (if size > 0 then tree else Tree.Leaf) else Lazy.from_val Tree.Leaf in
    Report.summaries := { batch; size; first } :: !Report.summaries;
    for _ = 1 to 2000 do ignore (Sys.opaque_identity (List.init 40 string_of_int)) done
  done;
  Printf.printf "%d\n" (List.length !Report.summaries)
