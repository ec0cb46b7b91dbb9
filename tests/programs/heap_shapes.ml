(* Heaps known block by block: each of the first values of this module is one. Prints the field of the
   module it is in, its name, and the words reachable from it, as the runtime counts them. *)

(* 0 *) let list = List.init 1000 Fun.id

type tree = Leaf | Node of tree * int * tree
let rec grow n = if n = 0 then Leaf else Node (grow (n - 1), n, grow (n - 1))
(* 1 *) let _ = grow
(* 2 *) let tree = grow 10

(* 3 *) let shared = List.init 50 (fun i -> ref i)
(* 4 *) let dag = Array.init 200 (fun i -> List.nth shared (i mod 50), shared)

type ring = { mutable next : ring option; weight : float }
let ring_of n =
  let first = { next = None; weight = 0.5 } in
  let last = ref first in
  for i = 2 to n do
    let next = { next = None; weight = float i } in
    !last.next <- Some next;
    last := next
  done;
  !last.next <- Some first;
  first
(* 5 *) let _ = ring_of
(* 6 *) let ring = ring_of 300

let add list = fun x -> List.fold_left ( + ) x list
(* 7 *) let _ = add
(* 8 *) let closure = add (List.init 70 Fun.id)

let mutual n =
  let rec even x = if x = 0 then n else odd (x - 1) and odd x = if x = 0 then [] else even (x - 1) in
  odd
(* 9 *) let _ = mutual
(* 10 *) let infix = mutual (List.init 33 Fun.id)

(* 11 *) let forced = let l = lazy (Array.make 40 1.5) in ignore (Lazy.force l); [| l |]
(* 12 *) let unforced = let hidden = Array.make 41 () in [| lazy (Array.length hidden) |]

class counter start = object
  val mutable count = List.init start Fun.id
  method add x = count <- x :: count
end
(* 13 *) let _ = fun start -> new counter start
(* 14 *) let objects = List.init 5 (fun i -> new counter i)

(* 15 *) let strings = Array.init 100 (fun i -> String.make i 'x')
(* 16 *) let floats = Array.init 321 float
(* 17 *) let bigarray = Bigarray.Array1.create Bigarray.float64 Bigarray.c_layout 12_345

(* 18 *) let table =
  let t = Hashtbl.create 8 in
  for i = 0 to 99 do Hashtbl.replace t (string_of_int i) (Some i) done;
  t

(* 19 *) let key = ref 7
(* 20 *) let ephemerons =
  let of_key k data =
    let e = Obj.Ephemeron.create 1 in
    Obj.Ephemeron.set_key e 0 (Obj.repr k);
    Obj.Ephemeron.set_data e (Obj.repr data);
    e
  in
  (* The first one's key lives, the other's does not. *)
  [| of_key key (Array.make 60 0); of_key (ref 8) (Array.make 61 0) |]

(* 21 *) let weak =
  let w = Weak.create 2 in
  Weak.set w 0 (Some key);
  Weak.set w 1 (Some (ref 9));
  w

let first a = print_int (Array.length a)
let last () = print_string "last"
let also l = ignore (List.length l)
let words value = Obj.reachable_words (Obj.repr value)

let () =
  Bigarray.Array1.fill bigarray 0.25;
  Gc.full_major ();
  (* Kept for its finaliser alone; not kept; kept by both. *)
  Gc.finalise first (Array.make 77 0);
  Gc.finalise_last last (Array.make 400 0);
  Gc.finalise also list;
  let report = Printf.printf "%d %s %d\n" in
  report 0 "list" (words list);
  report 2 "tree" (words tree);
  report 4 "dag" (words dag);
  report 6 "ring" (words ring);
  report 8 "closure" (words closure);
  report 10 "infix" (words infix);
  report 11 "forced" (words forced);
  report 12 "unforced" (words unforced);
  report 14 "objects" (words objects);
  report 15 "strings" (words strings);
  report 16 "floats" (words floats);
  report 17 "bigarray" (words bigarray);
  report 18 "table" (words table);
