(* Takes all memory that it may have, goes on with what little it needs, and frees the memory again; three times. *)
(* libs: *)

let[@inline never] fill size =
  let kept = ref [] in
  (try
     while true do
       kept := Bytes.create size :: !kept
     done
   with Out_of_memory -> ());
  !kept

(* Blocks of many callstacks. *)
let rec allocate depth number =
  if depth = 0 then [ ref number ]
  else if number land 1 = 0 then List.rev (allocate (depth - 1) (number / 2))
  else List.map (fun block -> block) (allocate (depth - 1) (number / 2))

let () =
  (* Words: what is left when there is no more is less than that. *)
  Gc.set { (Gc.get ()) with major_heap_increment = 8_192 };
  for _ = 1 to 3 do
    let kept = fill 4_000_000 in
    let more = fill 30_000 in
    for number = 1 to 8_000 do
      ignore (Sys.opaque_identity (allocate 16 number))
    done;
    ignore (Sys.opaque_identity (kept, more));
    Gc.compact ()
  done;
  print_endline "went on";
  exit 3
