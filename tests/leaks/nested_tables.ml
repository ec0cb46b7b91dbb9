(* A table of tables: the inner ones grow, the outer one has ten entries.
   run leak 400000: Nested_tables.Visits.by_country grows, allocated in Nested_tables
   run sound 400000: no suspect
   long 1000000 *)
module Visits = struct
  let by_country : (string, (int, string) Hashtbl.t) Hashtbl.t = Hashtbl.create 16
  let countries = [| "at"; "be"; "ch"; "de"; "es"; "fi"; "gr"; "hu"; "it"; "nl" |]
  let visit ~leaks i =
    let country = countries.(i mod 10) in
    let table = match Hashtbl.find_opt by_country country with
      | Some table -> table
      | None -> let table = Hashtbl.create 16 in Hashtbl.replace by_country country table; table in
    Hashtbl.replace table (if leaks then i else i mod 3000) (Printf.sprintf "visit %d" i)
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Visits.visit ~leaks i;
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" (Hashtbl.length Visits.by_country)
