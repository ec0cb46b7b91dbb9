(* Children by vfork, which share its memory until they end or become another program; and work after
   that. Argument: what the children do. *)
(* libs: *)

external vfork : string -> int = "vfork_and"

let kept = ref []

let[@inline never] keep () =
  for i = 1 to 100_000 do
    kept := (i, string_of_int i) :: !kept
  done

let () =
  for _ = 1 to 3 do
    Printf.printf "child %d\n%!" (vfork Sys.argv.(1))
  done;
  keep ();
  Printf.printf "kept %d\n" (List.length !kept)
