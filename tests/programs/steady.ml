(* Allocates some 7e7 words a second beside honest computing, with stacks under 30 frames: what a
   busy program pays for being recorded. Argument: rounds (default 10). *)
(* libs: *)

module Names = Map.Make (String)

let name i = "name-" ^ string_of_int (i * 7919 mod 5_003)

let index size seed =
  let rec add i map =
    if i = size then map
    else
      let key = Digest.to_hex (Digest.string (name (i + seed))) in
      let count = match Names.find_opt key map with None -> 1 | Some n -> n + 1 in
      add (i + 1) (Names.add key count map)
  in
  add 0 Names.empty

let sorted map =
  Names.bindings map
  |> List.map (fun (key, count) -> (count * 31 + Hashtbl.hash key, key))
  |> List.sort (fun (a, x) (b, y) -> match compare (b : int) a with 0 -> String.compare x y | c -> c)

(* Edit distance of neighbours: computing that allocates next to nothing. *)
let row = Array.make 64 0
let min (a : int) b = if a < b then a else b

let distance a b =
  Array.iteri (fun j _ -> row.(j) <- j) row;
  for i = 1 to String.length a do
    let corner = ref row.(0) in
    row.(0) <- i;
    for j = 1 to String.length b do
      let change = !corner + if a.[i - 1] = b.[j - 1] then 0 else 1 in
      corner := row.(j);
      row.(j) <- min (min (row.(j) + 1) (row.(j - 1) + 1)) change
    done
  done;
  row.(String.length b)

let digest l =
  let rec go sum = function
    | (n, a) :: ((_, b) :: _ as rest) ->
        let far = if n land 3 = 0 then distance a b else n in
        go ((sum * 31 + far) land 0xffffff) rest
    | _ -> sum
  in
  go 7 l

let () =
  let rounds = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 10 in
  let sum = ref 0 in
  for seed = 1 to rounds do
    sum := (!sum + digest (sorted (index 8_000 seed))) land 0xffffff
  done;
  Printf.printf "digest %d\n" !sum
