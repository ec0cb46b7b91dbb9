(* Fills a table of about 5 MB again and again, as often as the argument says: its contents are numbers at random, which no
   snapshot can leave out. *)
(* libs: *)

let () =
  let rounds = int_of_string Sys.argv.(1) in
  let random = Random.State.make [| 1 |] in
  let table = Hashtbl.create 16 in
  for _ = 1 to rounds do
    Hashtbl.reset table;
    for key = 1 to 30_000 do
      Hashtbl.replace table key (Array.init 8 (fun _ -> Random.State.bits random));
      if key mod 100 = 0 then ignore (Sys.opaque_identity (List.init 2_000 (fun i -> [ i ])))
    done
  done;
  Printf.printf "%d\n" (Hashtbl.length table)
