(* Global variables whose values are computed in known lines: each has its own line's number in its name. *)

let keep = Sys.opaque_identity
let table_4 : (string, int) Hashtbl.t = Hashtbl.create 16
let cell_5 = ref (keep [ 1 ])

let call_7 =
  let list = keep [ 1; 2 ] in
  List.map succ list

let branch_11 =
  if keep true then Array.make 3 1
  else
    Array.make 4 1

let left_16, right_16 = List.partition (fun x -> x > 1) (keep [ 1; 2 ])
let alias_17 = left_16

module Inner = struct
  let cell_20 = ref (keep 2.)
  module Words = Map.Make (String)
  let words_22 = Words.singleton (keep "a") 1
end

include Set.Make (Int)

let set_27 = of_list (keep [ 1; 2; 3 ])
let spilled_28 = let first = Bytes.create 3 in ignore (Bytes.create 4); ref first

class counter = object
  val mutable count = 0
  method next = count <- count + 1; count
end

let object_35 = new counter
# 7 "other.mly"
let generated_7 = Hashtbl.hash (keep "a") :: keep []

let () =
  ignore (table_4, cell_5, call_7, branch_11, left_16, right_16, alias_17, Inner.cell_20);
  ignore (Inner.words_22, set_27, spilled_28, object_35, generated_7)
