(* It leaks from two fifths of the work on, when a feature is switched on; the twin's feature keeps the last 1,000.
   run leak 400000: Late_start.Feature.kept grows, allocated in Late_start.Feature.use
   run sound 400000: no suspect
   long 2000000 *)
module Feature = struct
  let kept : (int, bytes) Hashtbl.t = Hashtbl.create 64
  let use ~leaks i = Hashtbl.replace kept (if leaks then i else i mod 1000) (Bytes.make 100 'f')
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let n = int_of_string Sys.argv.(2) in
  for i = 1 to n do
    if 5 * i > 2 * n then Feature.use ~leaks i;
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" (Hashtbl.length Feature.kept)
