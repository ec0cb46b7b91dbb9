(* Records that two variables share, allocated by one function: nothing but the samples says what they are where types
   are not known. *)

type t = { mutable number : int; text : string; last : int }

let[@inline never] make number = { number; text = String.make 10 'x'; last = number }

let first, second =
  let all = List.init 20 make in
  (Array.of_list all, Array.of_list (List.rev all))

let () =
  Gc.full_major ();
  print_int (Array.length first + Array.length second + first.(0).last)
