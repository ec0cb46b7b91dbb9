(* One thread that waits for lines. A line `N` has it allocate N times in functions named after their blocks; it prints the words
   of each. Prints its number first. *)
(* libs: unix *)

let table = Hashtbl.create 16
let[@inline never] alloc_small_3 n = for i = 1 to n do ignore (Sys.opaque_identity (i, i, i)) done
let[@inline never] alloc_array_100 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 100 i)) done
let[@inline never] alloc_large_1000 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 1000 i)) done

let measure n =
  alloc_small_3 (100 * n);
  alloc_array_100 (10 * n);
  alloc_large_1000 n;
  for key = 1 to n do Hashtbl.replace table (key mod 1009) (string_of_int (key mod 1009)) done;
  Printf.printf "alloc_small_3 %d\nalloc_array_100 %d\nalloc_large_1000 %d\nend\n%!" (400 * n) (1010 * n) (1001 * n)

let () =
  Printf.printf "%d\n%!" (Unix.getpid ());
  (try
     while true do
       measure (int_of_string (input_line stdin))
     done
   with End_of_file -> ());
  Hashtbl.iter (fun key text -> if int_of_string text <> key then failwith "a text is not as it was") table;
  print_endline "all is as it was"
