(* Each edit is put onto the stack of undo; the twin keeps the last 200.
   run leak 120000: Undo_stack.Editor.history grows, allocated in Undo_stack.Editor.edit
   run sound 120000: no suspect
   long 1000000 *)
module Editor = struct
  let history : string list Stack.t = Stack.create ()
  let recent : string list Queue.t = Queue.create ()
  let document = ref (List.init 20 string_of_int)
  let edit i =
    let line = Printf.sprintf "line %d: %s" i (String.make 60 'e') in
    document := line :: List.filteri (fun k _ -> k < 8) !document;
    !document
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    let document = Editor.edit i in
    if leaks then Stack.push document Editor.history
    else begin
      Queue.push document Editor.recent;
      if Queue.length Editor.recent > 200 then ignore (Queue.pop Editor.recent) end;
    ignore (Sys.opaque_identity (List.init 60 string_of_int))
  done;
  Printf.printf "%d\n" (Stack.length Editor.history)
