(* A table that grows with the work, for so many seconds of CPU time: long enough for snapshots that nobody asks for. *)

let table : (int, string) Hashtbl.t = Hashtbl.create 16

let handle request = String.concat "," (List.init 50 (fun part -> string_of_int (request + part)))

let () =
  let seconds = float_of_string Sys.argv.(1) in
  let request = ref 0 in
  while Sys.time () < seconds do
    incr request;
    let answer = handle !request in
    if !request mod 200 = 0 then Hashtbl.replace table !request answer
  done;
  print_endline "done"
