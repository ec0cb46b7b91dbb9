(* Sound: work that is queued at the start and done by and by.
   run 200000: no suspect
   long 1000000 *)
let todo : (int * string) Queue.t = Queue.create ()
let () =
  for i = 1 to int_of_string Sys.argv.(1) do Queue.push (i, "task " ^ string_of_int i) todo done;
  let sum = ref 0 in
  while not (Queue.is_empty todo) do
    let i, text = Queue.pop todo in
    sum := !sum + i + String.length text;
    ignore (Sys.opaque_identity (List.init 60 string_of_int))
  done;
  Printf.printf "%d\n" !sum
