(* Switches sampling off and on again. *)

let kept = ref []

let[@inline never] work () =
  for i = 1 to 50_000 do
    kept := (i, i) :: !kept
  done

(* Their frames stay while they work. *)
let[@inline never] first () = work (); ignore (Sys.opaque_identity 1)
let[@inline never] unwatched () = work (); ignore (Memtrail.External.alloc ~bytes:100_000_000)
let[@inline never] last () = work (); ignore (Sys.opaque_identity 2)

let () =
  first ();
  Memtrail.stop ();
  let off = Memtrail.currently_tracing () in
  unwatched ();
  Memtrail.start ();
  last ();
  assert (not off);
  print_endline "done"
