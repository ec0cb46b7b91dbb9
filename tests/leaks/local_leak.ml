(* No global variable: a local table of the main loop grows.
   run leak 300000: Local_leak.serve grows, allocated in Local_leak.entry
   run sound 300000: no suspect
   long 1000000 *)
let entry i = (i, "entry " ^ string_of_int i)
let serve ~leaks n =
  let recent = Hashtbl.create 16 in
  for i = 1 to n do
    Hashtbl.replace recent (if leaks then i else i mod 1000) (entry i);
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Hashtbl.length recent
let () = Printf.printf "%d\n" (serve ~leaks:(Sys.argv.(1) = "leak") (int_of_string Sys.argv.(2)))
