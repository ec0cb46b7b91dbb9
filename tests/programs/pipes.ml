(* A filter: standard input to standard output, in capitals, until the end or a closed pipe. *)
(* libs: *)

let () =
  let lines = ref 0 in
  (try
     while true do
       let l = input_line stdin in
       incr lines;
       print_endline (String.uppercase_ascii l)
     done
   with End_of_file -> ());
  Printf.eprintf "%d lines\n" !lines
