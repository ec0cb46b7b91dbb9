(* A table that only grows, and two that look like it: one that is filled at the start, one that forgets what is old.
   "cleaned" leaks, and frees all at the end.
   The first argument is which, the second how much work there is beside. With a third, the program waits at the end for
   so many times as long as it worked. *)
(* libs: unix *)

let table : (int, int array) Hashtbl.t = Hashtbl.create 16
let steps = 6_000
let rounds = if Array.length Sys.argv > 2 then int_of_string Sys.argv.(2) else 1
let load key = Array.make 100 key
let remember key = Hashtbl.replace table key (load key)
let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 300 string_of_int)

let start = Unix.gettimeofday ()

let () =
  let sum = ref 0 in
  for step = 1 to steps do
    (match Sys.argv.(1) with
    | "leak" | "cleaned" -> remember step
    | "filled" -> if step <= steps / 5 then remember step
    | "bounded" ->
        remember step;
        Hashtbl.remove table (step - (steps / 5))
    | other -> failwith other);
    for _ = 1 to rounds do
      sum := !sum + work step
    done
  done;
  if Sys.argv.(1) = "cleaned" then (
    Hashtbl.reset table;
    Gc.compact ());
  if Array.length Sys.argv > 3 then Unix.sleepf (float_of_string Sys.argv.(3) *. (Unix.gettimeofday () -. start));
  Printf.printf "%d %d\n" !sum (Hashtbl.length table)
