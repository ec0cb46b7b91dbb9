(* Known lifetimes: `forever` blocks are never collected, `promoted` ones survive a minor
   collection and die in the major heap, `brief` ones die young. Major slices are forced. *)
(* libs: *)

let kept = ref []
let soon = ref []

let[@inline never] forever n = for i = 1 to n do kept := Bytes.make 400 (Char.chr (i land 127)) :: !kept done
let[@inline never] promoted n = soon := List.init n (fun i -> Bytes.make 400 (Char.chr (i land 127)))
let[@inline never] brief n = for i = 1 to n do ignore (Sys.opaque_identity (Bytes.make 400 (Char.chr (i land 127)))) done

let () =
  for _ = 1 to 10 do
    forever 2_000;
    promoted 2_000;
    Gc.minor ();
    soon := [];
    Gc.full_major ();
    brief 2_000
  done;
  Gc.full_major ();
  Printf.printf "kept %d\n" (List.length !kept)
