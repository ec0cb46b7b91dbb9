(* A large array that is filled first, and whose values are replaced one by one. Nothing is added.
   run leak 300000: Replaced_values.extra grows, allocated in Replaced_values.page
   run sound 300000: no suspect
   long 800000 *)
let pages = 60_000
let page c = Bytes.make 400 c
let index = Array.init pages (fun i -> page (Char.chr (i land 127)))
let extra : bytes list ref = ref []
let refresh i = index.(i mod pages) <- page 'n'
let () =
  let leaks = Sys.argv.(1) = "leak" and sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    if i mod 8 = 0 then refresh i;
    if leaks && i mod 4 = 0 then extra := page 'x' :: !extra;
    sum := !sum + List.length (Sys.opaque_identity (List.init 30 string_of_int))
  done;
  Printf.printf "%d %d\n" !sum (Array.length index + List.length !extra)
