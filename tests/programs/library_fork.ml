(* Forks; parent and child both work below labels, report memory and take a snapshot. *)
(* libs: unix *)

let kept = ref []

let[@inline never] work () =
  for i = 1 to 50_000 do
    kept := (i, i) :: !kept
  done

let act name =
  Memtrail.with_label name work;
  ignore (Memtrail.External.alloc ~bytes:1_000_000);
  Memtrail.dump name

let () =
  act "before";
  match Unix.fork () with
  | 0 ->
      act "child";
      print_endline "child"
  | child ->
      let _, status = Unix.waitpid [] child in
      act "parent";
      assert (status = Unix.WEXITED 0);
      (* There is no child that is not the program's own. *)
      assert (match Unix.waitpid [Unix.WNOHANG] (-1) with
        | exception Unix.Unix_error (Unix.ECHILD, _, _) -> true
        | _ -> false);
      print_endline "done"
