(* Two registries that share what they hold, a table for itself, memory outside the heap, an array that
   only a finaliser keeps, and a list that only a stack frame does while a major collection ends. Prints
   words reachable from each, as the runtime counts them. *)

(* 0, 1 *) let first, second =
  let common = Array.init 3000 string_of_int in
  (ref (string_of_int 1, common), ref (string_of_int 2, common, string_of_int 3))

(* 2 *) let alone = Array.init 500 (fun i -> String.make i 'x')
(* 3 *) let outside = Bigarray.Array1.create Bigarray.float64 Bigarray.c_layout 12_345
(* 4 *) let copies = List.init 100 (fun _ -> String.make 50 'c')

let words value = Obj.reachable_words (Obj.repr value)
let report name words = Printf.printf "%s %d\n" name words
let finaliser array = ignore (Array.length array)

let[@inline never] work () =
  let local = List.init 4000 Fun.id in
  Gc.full_major ();
  report "local" (words local)

let () =
  Bigarray.Array1.fill outside 0.25;
  work ();
  Gc.finalise finaliser (Array.make 7_777 0);
  report "first" (words first);
  report "second" (words second);
  (* The pair is not of the heap that is asked about. *)
  report "both" (words (first, second) - 3);
  report "alone" (words alone);
  report "copies" (words copies)
