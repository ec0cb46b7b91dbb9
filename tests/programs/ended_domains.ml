(* Four domains fill tables of strings, some 50 MiB together, and end. The tables are kept. *)
(* libs: *)
(* from: 5.1 *)

let tables = Array.init 4 (fun _ -> Hashtbl.create 16)
let fill table = for key = 1 to 50_000 do Hashtbl.replace table key (String.make 200 'd') done

let () =
  List.iter Domain.join (List.init 4 (fun i -> Domain.spawn (fun () -> fill tables.(i))));
  Printf.printf "%d\n" (Array.fold_left (fun sum table -> sum + Hashtbl.length table) 0 tables)
