(* Finalisers, weak pointers, ephemerons and compaction see the same heap as without us: nothing
   is kept alive a collection longer, nothing runs twice. *)
(* libs: *)

let first = ref 0
let last = ref 0

let[@inline never] make n =
  for i = 1 to n do
    let r = ref i in
    Gc.finalise (fun r -> first := !first + (!r land 1)) r;
    Gc.finalise_last (fun () -> incr last) r
  done

let[@inline never] weak n =
  let w = Weak.create n in
  let kept = List.init n (fun i -> let b = Bytes.make (8 + i) 'w' in Weak.set w i (Some b); if i mod 3 = 0 then b else Bytes.empty) in
  (w, kept)

let count w =
  let n = ref 0 in
  for i = 0 to Weak.length w - 1 do
    if Weak.check w i then incr n
  done;
  !n

module Table = Ephemeron.K1.Make (struct
  type t = string
  let equal = ( == )
  let hash = Hashtbl.hash
end)

let () =
  make 10_000;
  Gc.full_major ();
  Gc.full_major ();
  Printf.printf "first %d last %d\n" !first !last;
  let w, kept = weak 3_000 in
  Gc.full_major ();
  Printf.printf "weak %d\n" (count w);
  Printf.printf "kept %d\n" (List.length kept);
  let table = Table.create 16 in
  let keys = Array.init 500 string_of_int in
  Array.iter (fun k -> Table.replace table k (k ^ k)) keys;
  Gc.compact ();
  Printf.printf "ephemerons %d\n" (Array.fold_left (fun n k -> n + String.length (Table.find table k)) 0 keys);
  for _ = 1 to 3 do
    make 1_000;
    Gc.compact ()
  done;
  Printf.printf "first %d last %d\n" !first !last
