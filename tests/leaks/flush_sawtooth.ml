(* Sound: a write buffer that is flushed twelve times.
   run 600000: no suspect
   long 2000000 *)
let pending : (int, string) Hashtbl.t = Hashtbl.create 16
let () =
  let flushed = ref 0 in
  for i = 1 to int_of_string Sys.argv.(1) do
    Hashtbl.replace pending i (Printf.sprintf "row %d to be written" i);
    if Hashtbl.length pending >= 50_000 then begin
      flushed := !flushed + Hashtbl.length pending; Hashtbl.reset pending end;
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" !flushed
