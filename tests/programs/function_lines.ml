(* Functions of all sorts, many of which neither call nor allocate: without debuggers' tables, these
   have no line. *)

let first x = x
let second (x, _) = x

let[@inline never] outer limit =
  let inner_leaf x = x + limit in
  let inner_calls x =
    print_int (x + limit)
  in
  Sys.opaque_identity [ inner_leaf;
    (fun x -> x * limit);
    (fun x -> inner_calls x; x - limit);
    (fun x ->
       x lxor limit) ]

let between x = x land 7

(* The loop becomes a part of the function around it, and its lines have the loop's name. *)
let[@inline never] has_loop list =
  let rec loop sum = function
    | [] -> Printf.sprintf "%d" sum
    | x :: rest -> loop (sum + x) rest
  in
  loop 0 list

module Shapes = struct
  let leaf x = x lsr 1
  let calls x = print_int x; x
  module Inner = struct
    let leaf x = x lsl 1
    let calls x = print_int x; (fun y -> x + y)
  end
end

class counter start = object
  val mutable count = start
  method leaf = count
  method add x = count <- count + x
  method show = print_int count
end

module Make (X : sig val step : int end) = struct
  let leaf x = x + X.step
  let calls x = print_int (x + X.step)
end
module Made = Make (struct let step = Sys.opaque_identity 3 end)

let last_calls x = print_int x
let last x = x lor 1

type held = Held : 'a -> held
let held = Sys.opaque_identity [
  Held first; Held second; Held (outer (Sys.opaque_identity 5)); Held between; Held has_loop;
  Held Shapes.leaf; Held Shapes.calls; Held Shapes.Inner.leaf; Held Shapes.Inner.calls;
  Held (new counter 3); Held Made.leaf; Held Made.calls; Held last_calls; Held last ]

let () = print_endline (has_loop [ 1; 2; 3; List.length held ])
