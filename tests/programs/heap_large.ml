(* A heap of so many megabytes, of records, lists, trees, strings and tables. Prints its number, and how
   many microseconds one cycle of its collector (Gc.major) and a full collection (Gc.full_major) take,
   medians of five; waits for a line. *)
(* libs: unix *)

type tree = Leaf | Node of tree * int * tree

type entry = {
  name : string;
  tags : string list;
  tree : tree;
  weight : float;
  before : entry option;
}

let rec grow n = if n = 0 then Leaf else Node (grow (n - 1), n, grow (n - 1))

let entry n before =
  { name = string_of_int n;
    tags = List.init 3 (fun i -> String.make (8 * i) 'x');
    tree = grow 3;
    weight = float n;
    before }

(* What one takes with its place in the table. *)
let bytes_of_entry = 500

let fill megabytes =
  let count = megabytes * 1_000_000 / bytes_of_entry in
  let table = Hashtbl.create count in
  let last = ref None in
  for n = 1 to count do
    let made = entry n (if n mod 10 = 0 then None else !last) in
    last := Some made;
    Hashtbl.replace table made.name made
  done;
  table

let microseconds collect =
  let one _ =
    let begun = Unix.gettimeofday () in
    collect ();
    Unix.gettimeofday () -. begun
  in
  let times = List.sort compare (List.init 5 one) in
  int_of_float (1e6 *. List.nth times 2)

let () =
  let table = fill (int_of_string Sys.argv.(1)) in
  Gc.full_major ();
  let cycle = microseconds Gc.major in
  let full = microseconds Gc.full_major in
  Printf.printf "%d %d %d\n%!" (Unix.getpid ()) cycle full;
  ignore (input_line stdin);
  ignore (Hashtbl.length (Sys.opaque_identity table))
