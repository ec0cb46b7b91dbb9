(* Sound: a ring of the last 50,000 measurements, full from a tenth of the work on.
   run 500000: no suspect
   long 2000000 *)
let ring : (float * string) option array = Array.make 50_000 None
let () =
  for i = 1 to int_of_string Sys.argv.(1) do
    ring.(i mod 50_000) <- Some (float i, Printf.sprintf "measured %d" i);
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" (Array.fold_left (fun n x -> if x = None then n else n + 1) 0 ring)
