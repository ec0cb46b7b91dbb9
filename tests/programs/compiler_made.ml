(* Functions that have no place in debug information: those that the compiler makes of classes, methods that neither call
   nor allocate, functions that take a tuple apart, and values that are externals. *)

class counter start = object (self)
  val mutable count = start
  method leaf = count land 7
  method add x = count <- count + x
  method show = print_int count
  method twice = self#show; self#show
end

class virtual shape = object (self)
  method virtual area : int
  method double = self#area lsl 1
  method print = print_int self#area
end

class square side = object
  inherit shape
  inherit counter side as super
  val side = side
  method area = side * side
  method! show = print_string "square "; super#show
end

let swap (a, b) = (b, a)
let first (a, _) = a

type held = Held : 'a -> held
let held = Sys.opaque_identity [
  Held (new counter 3); Held (new square 4); Held swap; Held first; Held seek_in; Held pos_in ]

let () = print_int (List.length held); (new square 5)#print; (new counter 1)#twice; print_newline ()

let[@inline] above x = print_int x; x + 1
class below = object
  method last x =
    let y = above x in
    print_int y; above y
end
let () = ignore (Sys.opaque_identity [ new below ])
