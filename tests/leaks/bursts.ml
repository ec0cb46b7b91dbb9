(* A leak in bursts: 4,000 entries in each of 40 imports, and other work between them.
   run leak 40: Bursts.Import.rows grows, allocated in Bursts.Import.row
   run sound 40: no suspect
   long 300 *)
module Import = struct
  type row = { key : int; text : string }
  let rows : row list ref = ref []
  let row key = { key; text = "row " ^ string_of_int key ^ " of the import" }
  let run ~leaks batch =
    if not leaks then rows := [];
    for i = 1 to 4000 do rows := row ((batch * 4000) + i) :: !rows done
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for batch = 1 to int_of_string Sys.argv.(2) do
    Import.run ~leaks batch;
    for _ = 1 to 8000 do ignore (Sys.opaque_identity (List.init 40 string_of_int)) done
  done;
  Printf.printf "%d\n" (List.length !Import.rows)
