(* Takes snapshots of a table that is filled and emptied, twice in a row, in a finaliser and in the
   course of an exception. *)

let kept : (int, int list) Hashtbl.t = Hashtbl.create 16

(* 1,000 lists of 10 elements. *)
let fill () =
  for i = 1 to 1_000 do
    Hashtbl.replace kept i (List.init 10 (fun j -> i + j))
  done

let () =
  fill ();
  Memtrail.dump "full";
  Hashtbl.reset kept;
  Memtrail.dump "empty";
  for i = 1 to 6 do Memtrail.dump (string_of_int i) done;
  Gc.finalise (fun _ -> Memtrail.dump "in a finaliser") (ref 0);
  Gc.full_major ();
  (try Fun.protect ~finally:(fun () -> Memtrail.dump "h\195\169h\195\169\n\255") (fun () -> raise Exit)
   with Exit -> ());
  print_endline "done"
