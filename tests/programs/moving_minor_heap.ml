(* A minor heap that is moved several times while blocks are allocated, and how many words were. *)

let work () = List.fold_left (fun sum text -> sum + String.length text) 0 (List.init 20_000 string_of_int)

let () =
  let sum = ref 0 in
  List.iter
    (fun words ->
      Gc.set { (Gc.get ()) with minor_heap_size = words };
      sum := !sum + work ())
    [ 1 lsl 16; 1 lsl 20; 1 lsl 22; 1 lsl 18; 1 lsl 23; 1 lsl 15; 1 lsl 21 ];
  let words = Gc.minor_words () in
  Printf.printf "%d\n%.0f\n" !sum words
