(* Collects all, which is when the only snapshot is to be taken, and fills a table then: nobody can tell what has it. *)
(* libs: *)

let () =
  let table = Hashtbl.create 16 in
  Hashtbl.replace table 0 "first";
  Gc.full_major ();
  for key = 1 to 100_000 do
    Hashtbl.replace table key (String.make 200 'x')
  done;
  Printf.printf "%d\n" (Hashtbl.length table)
