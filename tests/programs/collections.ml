(* Collects, and prints what the runtime has counted of it: minor collections, major cycles, compactions. *)

let kept = ref []

let () =
  for i = 1 to 200 do
    kept := Array.make 100 i :: !kept;
    Gc.minor ()
  done;
  for _ = 1 to 5 do Gc.full_major () done;
  Gc.compact ();
  ignore (Gc.major_slice 1_000);
  let stat = Gc.quick_stat () in
  Printf.printf "%d %d %d\n" stat.Gc.minor_collections stat.Gc.major_collections stat.Gc.compactions
