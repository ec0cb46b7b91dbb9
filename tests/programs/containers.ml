(* Containers of the standard library, each with a number of entries that no other has. Prints them. *)

module Names = Map.Make (String)
module Numbers = Set.Make (Int)

let name i = Printf.sprintf "entry %d" i
let table : (string, int list) Hashtbl.t = Hashtbl.create 16
let names = List.fold_left (fun m i -> Names.add (name i) (name (-i)) m) Names.empty (List.init 101 Fun.id)
let numbers = Numbers.of_list (List.init 103 Fun.id)
let queue : string Queue.t = Queue.create ()
let buffer = Buffer.create 1024
let words = List.init 107 name
let array = Array.init 109 name
(* As an array that was made too large. *)
let room = Array.make 113 (name 0)

let () =
  for i = 1 to 97 do
    Hashtbl.add table (name i) [ i ];
    if i <= 89 then Queue.add (name i) queue
  done;
  for _ = 1 to 5000 do
    Buffer.add_string buffer (name 1)
  done;
  Array.iteri (fun i _ -> if i < 13 then room.(i) <- name i) room;
  Printf.printf "hashtbl %d\n" (Hashtbl.length table);
  Printf.printf "map %d\n" (Names.cardinal names);
  Printf.printf "set %d\n" (Numbers.cardinal numbers);
  Printf.printf "queue %d\n" (Queue.length queue);
  Printf.printf "buffer %d\n" (Buffer.length buffer);
  Printf.printf "list %d\n" (List.length words);
  Printf.printf "array %d\n" (Array.length array);
  Printf.printf "array %d\n" (Array.length room)
