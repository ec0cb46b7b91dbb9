(* Three domains at work, each with a table whose lists are checked in the end, until the input ends. Prints its number. A
   line `N` has the main domain, and one that is spawned for it, allocate N times in functions named after their blocks; the
   words of each are printed. *)
(* libs: unix *)
(* from: 5.0 *)

let stop = Atomic.make false
let[@inline never] alloc_small_3 n = for i = 1 to n do ignore (Sys.opaque_identity (i, i, i)) done
let[@inline never] alloc_array_100 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 100 i)) done
let[@inline never] alloc_large_1000 n = for i = 1 to n do ignore (Sys.opaque_identity (Array.make 1000 i)) done

let allocate n =
  alloc_small_3 (100 * n);
  alloc_array_100 (10 * n);
  alloc_large_1000 n

let measure n =
  let other = Domain.spawn (fun () -> allocate n) in
  allocate n;
  Domain.join other;
  Printf.printf "alloc_small_3 %d\nalloc_array_100 %d\nalloc_large_1000 %d\nend\n%!" (800 * n) (2020 * n) (2002 * n)

let work number () =
  let table = Hashtbl.create 16 in
  let round = ref 0 in
  while not (Atomic.get stop) do
    incr round;
    let key = (number + (!round * 7919)) mod 1009 in
    Hashtbl.replace table key (List.init (1 + (key mod 50)) (fun i -> (i, string_of_int key)));
    if !round mod 3 = 0 then Hashtbl.remove table ((key * 31) mod 1009)
  done;
  Hashtbl.iter
    (fun key list ->
      if List.length list <> 1 + (key mod 50) then failwith "a list is not as it was";
      List.iter (fun (_, text) -> if int_of_string text <> key then failwith "a text is not as it was") list)
    table

let () =
  let domains = List.map (fun number -> Domain.spawn (work number)) [ 1; 2; 3 ] in
  Printf.printf "%d\n%!" (Unix.getpid ());
  (try
     while true do
       measure (int_of_string (input_line stdin))
     done
   with End_of_file -> ());
  Atomic.set stop true;
  List.iter Domain.join domains;
  print_endline "all is as it was"
