(* Three threads at work, each with a table whose sum is known, and one that naps, until the input ends. Prints its
   number. A line `N` has the main thread allocate N times in functions named after their blocks; it prints the words of
   each. A line `fork` has a child do so. The last line has the sums. *)
(* libs: unix threads *)

let stop = ref false
let[@inline never] alloc_small_3 n = for i = 1 to n do ignore (Sys.opaque_identity (i, i, i)) done
let[@inline never] alloc_array_100 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 100 i)) done
let[@inline never] alloc_large_1000 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 1000 i)) done

let measure n =
  alloc_small_3 (100 * n);
  alloc_array_100 (10 * n);
  alloc_large_1000 n;
  Printf.printf "alloc_small_3 %d\nalloc_array_100 %d\nalloc_large_1000 %d\nend\n%!" (400 * n) (1010 * n) (1001 * n)

let fork () =
  match Unix.fork () with
  | 0 ->
    alloc_small_3 100_000;
    alloc_large_1000 1_000;
    Unix._exit 7
  | child -> (
    match Unix.waitpid [] child with
    | _, Unix.WEXITED code -> Printf.printf "a child ended with %d\nend\n%!" code
    | _ -> print_endline "a signal ended a child\nend")

(* Entries come and go; those that are there add up to what was counted. *)
let work number =
  let table = Hashtbl.create 16 in
  let round = ref 0 in
  while not !stop do
    incr round;
    let key = (number + (!round * 7919)) mod 1009 in
    Hashtbl.replace table key (List.init (1 + (key mod 50)) (fun i -> (i, string_of_int key)));
    if !round mod 3 = 0 then Hashtbl.remove table ((key * 31) mod 1009);
    if !round mod 64 = 0 then Thread.yield ()
  done;
  Hashtbl.iter
    (fun key list ->
      if List.length list <> 1 + (key mod 50) then failwith "a list is not as it was";
      List.iter (fun (_, text) -> if int_of_string text <> key then failwith "a text is not as it was") list)
    table

let nap () = while not !stop do Thread.delay 0.003 done

let () =
  let threads = Thread.create nap () :: List.map (Thread.create work) [ 1; 2; 3 ] in
  Printf.printf "%d\n%!" (Unix.getpid ());
  (try
     while true do
       match input_line stdin with
       | "fork" -> fork ()
       | times -> measure (int_of_string times)
     done
   with End_of_file -> ());
  stop := true;
  List.iter Thread.join threads;
  print_endline "all is as it was"
