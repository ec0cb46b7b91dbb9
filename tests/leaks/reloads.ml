(* Sound: a configuration that is loaded three times, each one larger than the one before, and replaced.
   run 3: no suspect
   long 12 *)
let config : (string, string) Hashtbl.t ref = ref (Hashtbl.create 1)
let load size =
  let table = Hashtbl.create 16 in
  for i = 1 to size do Hashtbl.replace table ("key" ^ string_of_int i) (Printf.sprintf "value of %d" i) done;
  config := table
let () =
  for reload = 1 to int_of_string Sys.argv.(1) do
    load (20_000 + (5_000 * reload));
    for _ = 1 to 100_000 do ignore (Sys.opaque_identity (List.init 40 string_of_int)) done
  done;
  Printf.printf "%d\n" (Hashtbl.length !config)
