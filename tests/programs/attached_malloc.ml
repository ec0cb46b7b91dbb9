(* One thread that is in malloc and free most of the time, and looks for a line in between, without waiting. Prints its number
   first. A line `N` has it allocate N times; it prints the words of each function. *)
(* libs: unix *)

external churn : int -> int = "attached_churn" [@@noalloc]

let[@inline never] alloc_small_3 n = for i = 1 to n do ignore (Sys.opaque_identity (i, i, i)) done
let[@inline never] alloc_array_100 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 100 i)) done
let[@inline never] alloc_large_1000 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 1000 i)) done

let measure n =
  alloc_small_3 (100 * n);
  alloc_array_100 (10 * n);
  alloc_large_1000 n;
  Printf.printf "alloc_small_3 %d\nalloc_array_100 %d\nalloc_large_1000 %d\nend\n%!" (400 * n) (1010 * n) (1001 * n)

let rec serve round =
  if churn 20 <> 20 then failwith "a block is not as it was";
  alloc_small_3 200;
  if round mod 1000 <> 0 then serve (round + 1)
  else
    match Unix.select [ Unix.stdin ] [] [] 0. with
    | [], _, _ -> serve (round + 1)
    | _ ->
      measure (int_of_string (input_line stdin));
      serve (round + 1)

let () =
  Printf.printf "%d\n%!" (Unix.getpid ());
  (try serve 1 with End_of_file -> ());
  print_endline "all is as it was"
