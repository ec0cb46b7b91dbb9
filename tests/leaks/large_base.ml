(* A slow leak beside a large index that is filled first.
   run leak 400000: Large_base.Audit.trail grows, allocated in Large_base.Audit.note
   run sound 400000: no suspect
   long 1000000 *)
module Index = struct
  let words : (int, string) Hashtbl.t = Hashtbl.create 1024
  let fill () = for i = 1 to 300_000 do Hashtbl.replace words i ("word " ^ string_of_int i) done
end
module Audit = struct
  let trail : string list ref = ref []
  let note i = Printf.sprintf "%d looked up, and found as it should be" i
  let keep line = trail := line :: !trail
end
let () =
  Index.fill ();
  let leaks = Sys.argv.(1) = "leak" and sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    sum := !sum + String.length (Hashtbl.find Index.words (1 + (i mod 300_000)));
    let line = Audit.note i in
    if leaks && i mod 4 = 0 then Audit.keep line;
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d %d\n" !sum (List.length !Audit.trail)
