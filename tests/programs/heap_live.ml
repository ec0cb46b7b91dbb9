(* Lists, trees and tables of which half is dropped; prints what is live after a full collection, as
   the runtime counts it. *)

let kept : (int, string list) Hashtbl.t = Hashtbl.create 16

let fill n =
  for i = 1 to n do
    Hashtbl.replace kept i (List.init (i mod 17) string_of_int)
  done

let () =
  fill 20_000;
  for i = 1 to 10_000 do Hashtbl.remove kept i done;
  Gc.full_major ();
  let s = Gc.stat () in
  Printf.printf "%d %d\n%!" s.Gc.live_blocks s.Gc.live_words
