(* A log in a buffer, which is written to nobody; the twin empties it at 64 KiB.
   run leak 600000: Buffer_log.Log.text grows
   run sound 600000: no suspect
   long 2000000 *)
module Log = struct
  let text = Buffer.create 256
  let bytes = ref 0
  let line ~leaks s =
    Buffer.add_string text s; Buffer.add_char text '\n';
    if (not leaks) && Buffer.length text > 65_536 then begin
      bytes := !bytes + Buffer.length text; Buffer.clear text end
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Log.line ~leaks (Printf.sprintf "request %d served in %d ms, 200 OK, from 10.0.%d.%d" i (i mod 50) (i mod 7) (i mod 250));
    ignore (Sys.opaque_identity (List.init 30 string_of_int))
  done;
  Printf.printf "%d\n" (Buffer.length Log.text + !Log.bytes)
