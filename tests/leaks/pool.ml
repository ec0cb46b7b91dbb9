(* A pool of buffers: they are taken and given back; the leak forgets to give one in ten back to the pool and lists it as in use.
   run leak 30000: Pool.Buffers.in_use grows, allocated in Pool.Buffers.take
   run sound 30000: no suspect
   long 400000 *)
module Buffers = struct
  let free : bytes Stack.t = Stack.create ()
  let in_use : (int, bytes) Hashtbl.t = Hashtbl.create 64
  let take id =
    let buffer = match Stack.pop_opt free with Some b -> b | None -> Bytes.create 4096 in
    Hashtbl.replace in_use id buffer; buffer
  let give id = match Hashtbl.find_opt in_use id with
    | Some buffer -> Hashtbl.remove in_use id; Stack.push buffer free
    | None -> ()
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    let buffer = Buffers.take i in
    Bytes.set buffer 0 'x';
    ignore (Sys.opaque_identity (List.init 200 string_of_int));
    if not (leaks && i mod 10 = 0) then Buffers.give i
  done;
  Printf.printf "%d\n" (Hashtbl.length Buffers.in_use)
