(* Dialogs are objects with a parent, which keeps a list of its children. In "leak" a closed dialog stays in it.
   run leak 60000: Widget_tree.Ui.root grows, allocated in Widget_tree.Ui.open_dialog or Widget_tree.Ui
   run sound 60000: no suspect
   long 240000 *)
module Ui = struct
  class widget (name : string) = object (self)
    val mutable children : widget list = []
    val text = Bytes.make 200 'x'
    method name = name
    method size = Bytes.length text + List.length children
    method add (child : widget) = children <- child :: children
    method remove (child : widget) = children <- List.filter (fun c -> c != child) children
    method self = (self :> widget)
  end
  let root = new widget "root"
  let open_dialog i = let dialog = new widget ("dialog" ^ string_of_int i) in root#add dialog; dialog
  let close leaks dialog = if not leaks then root#remove dialog
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    let dialog = Ui.open_dialog i in
    sum := !sum + String.length dialog#name;
    ignore (Sys.opaque_identity (List.init 30 string_of_int));
    Ui.close leaks dialog
  done;
  Printf.printf "%d\n" !sum
