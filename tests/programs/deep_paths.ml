(* Stacks of 70,000 calls of two functions in no regular order, entered from two places: each
   callstack is too deep to be recorded as a whole, takes many bytes, and has the same frames as
   another one but for the outermost. *)
(* libs: *)

let kept = ref []
let depth = 70_000
let turns = Array.init depth (fun i -> i * i mod 7919 mod 3 = 0)

let rec left n =
  if n = 0 then bottom ()
  else
    let below = if turns.(n - 1) then right (n - 1) else left (n - 1) in
    if n mod 10 = 0 then kept := [ (n, below) ];
    below + 1

and right n =
  if n = 0 then bottom ()
  else
    let below = if turns.(n - 1) then right (n - 1) else left (n - 1) in
    if n mod 10 = 0 then kept := [ (n, below) ];
    below + 2

and bottom () =
  for i = 1 to 3_000 do
    kept := [ (i, List.length !kept) ]
  done;
  0

let first_caller () = 1 + left depth
let second_caller () = 1 + left depth

let () =
  let total = ref 0 in
  for _ = 1 to 4 do
    total := !total + first_caller ();
    total := !total + second_caller ()
  done;
  Printf.printf "depth %d\n" !total
