(* A formatter prints into a buffer with an open box and is never flushed, so its queue of tokens grows. "sound"
   flushes each message, and clears the buffer.
   run leak 60000: Format_unflushed.Log grows
   run sound 60000: no suspect
   long 240000 *)
module Log = struct
  let buffer = Buffer.create 1000
  let out = Format.formatter_of_buffer buffer
  let write i = Format.fprintf out "@[<h>%s %d" "request" i
  let close () = Format.fprintf out "@]@."; Buffer.clear buffer
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Log.write i;
    ignore (Sys.opaque_identity (List.init 20 string_of_int));
    if not leaks then Log.close ()
  done;
  Printf.printf "%d\n" (Buffer.length Log.buffer)
