(* Sound: a two-generation cache: the young table becomes the old one when it is full.
   run 500000: no suspect
   long 2000000 *)
let young : (int, string) Hashtbl.t ref = ref (Hashtbl.create 16)
let old : (int, string) Hashtbl.t ref = ref (Hashtbl.create 16)
let put i =
  if Hashtbl.length !young >= 15_000 then begin old := !young; young := Hashtbl.create 16 end;
  Hashtbl.replace !young i (Printf.sprintf "generation %d" i)
let () =
  for i = 1 to int_of_string Sys.argv.(1) do put i; ignore (Sys.opaque_identity (List.init 40 string_of_int)) done;
  Printf.printf "%d\n" (Hashtbl.length !young + Hashtbl.length !old)
