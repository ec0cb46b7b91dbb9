(* Prints how many words it has allocated: small blocks that die, some that stay, and large ones. *)

let kept = ref []

let () =
  for i = 1 to 200_000 do
    let block = Sys.opaque_identity (i, i) in
    if i mod 10 = 0 then kept := block :: !kept
  done;
  for i = 1 to 100 do
    ignore (Sys.opaque_identity (Array.make 5_000 i))
  done;
  let minor, promoted, major = Gc.counters () in
  Printf.printf "%.0f\n%!" (minor +. major -. promoted);
  ignore (Sys.opaque_identity !kept)
