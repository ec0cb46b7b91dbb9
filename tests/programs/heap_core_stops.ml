(* Allocates all the time, on each of its threads or domains, and keeps a table whose words it has printed. The argument is
   the number of threads beside the first one; the table must be there whenever it is stopped. *)
(* libs: unix threads *)

let table = Array.init 3_000 (fun i -> string_of_int i, i)

let rec churn n list =
  if n = 0 then List.length list
  else churn (n - 1) (if n mod 50 = 0 then [] else String.make (n mod 40) 'x' :: list)

let work () = while true do ignore (Sys.opaque_identity (churn 10_000 [])) done

let () =
  Gc.full_major ();
  Printf.printf "%d\n%!" (Obj.reachable_words (Obj.repr table));
  for _ = 1 to int_of_string Sys.argv.(1) do ignore (Thread.create work ()) done;
  work ()
