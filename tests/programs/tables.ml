(* A heap for benchmarks of snapshots: a table, a map and lists with sharing, of as many units as the
   first argument says (some 23 blocks each), and a list of as many cells as the second. All of it is
   live at the end. *)

module Map = Map.Make (String)

type node = {
  name : string;
  mutable next : node list;
  value : float;
  tags : string list;
  owner : node option;
}

let seed = ref 42

let random below =
  seed := ((!seed * 25214903917) + 11) land 0xffffffffffff;
  (!seed lsr 17) mod below

let names = Array.init 1000 (fun i -> "name-" ^ string_of_int i)
let table : (string, node) Hashtbl.t = Hashtbl.create 1024
let map = ref Map.empty
let pairs = ref []
let cells = ref []

let () =
  let last = Array.make 64 None in
  for i = 1 to int_of_string Sys.argv.(1) do
    let key = "key-" ^ string_of_int i in
    let tag j = if random 3 = 0 then names.(random 1000) else string_of_int (i * j) in
    let tags = List.init (random 20) tag in
    let name = names.(random 1000) in
    let node = { name; next = []; value = float i; tags; owner = last.(random 64) } in
    last.(random 64) <- Some node;
    (match last.(random 64) with
    | Some owner when random 4 = 0 -> owner.next <- node :: owner.next
    | _ -> ());
    Hashtbl.replace table key node;
    if random 4 = 0 then map := Map.add key node !map;
    pairs := (i, key) :: !pairs
  done;
  for i = 1 to int_of_string Sys.argv.(2) do
    cells := i :: !cells
  done

let () =
  at_exit (fun () ->
      Printf.printf "%d %d %d %d\n" (Hashtbl.length table) (Map.cardinal !map)
        (List.length !pairs) (List.length !cells))
