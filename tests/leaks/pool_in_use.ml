(* Buffers are taken from a pool and given back, unless the request raises: then they stay marked as in use.
   run leak 60000: Pool_in_use.Pool.in_use grows, allocated in Pool_in_use.Pool.take or Stdlib
   run sound 60000: no suspect
   long 240000 *)
module Pool = struct
  let free : Bytes.t list ref = ref []
  let in_use : (int, Bytes.t) Hashtbl.t = Hashtbl.create 16
  let next = ref 0
  let take () =
    let buffer = match !free with b :: rest -> free := rest; b | [] -> Bytes.create 2000 in
    incr next; Hashtbl.replace in_use !next buffer; !next, buffer
  let give (id, buffer) = Hashtbl.remove in_use id; free := buffer :: !free
end
let request i (_, buffer) =
  Bytes.set buffer 0 (Char.chr (i land 127));
  ignore (Sys.opaque_identity (List.init 60 string_of_int));
  if i mod 5 = 0 then failwith "refused";
  Bytes.length buffer
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    let taken = Pool.take () in
    try sum := !sum + request i taken; Pool.give taken with Failure _ -> if not leaks then Pool.give taken
  done;
  Printf.printf "%d\n" !sum
