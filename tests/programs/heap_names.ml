(* Blocks that have names beside their tags and sizes. Each is a value of this module, so that it is
   there at the end. *)
(* libs: unix threads *)

let[@inline never] add x y z = Sys.opaque_identity (x + y) + z
let[@inline never] pair (a, b) = Sys.opaque_identity a + b

(* One allocation site for each. *)
let made = ref 0
let[@inline never] partial_of_one () = let f = Sys.opaque_identity add (Sys.opaque_identity 1) in incr made; f
let[@inline never] partial_of_two () = let f = (partial_of_one ()) (Sys.opaque_identity 2) in incr made; f
let one = partial_of_one ()
let two = partial_of_two ()
let tuple = Sys.opaque_identity pair

let[@inline never] on_order limit =
  Sys.opaque_identity [
    (fun order -> print_int (order + limit));
    (fun order -> print_int (order - limit)); (fun order -> print_int (order * limit));
    (fun order -> order + limit |> ignore);
  ]
let anonymous = on_order (Sys.opaque_identity 5)

let[@inline never] named limit =
  let rec repeat n = if n > limit then print_int n else repeat (n + 1) in
  Sys.opaque_identity repeat
let local = named (Sys.opaque_identity 5)

let boxed = Sys.opaque_identity [ Obj.repr 5l; Obj.repr 6L; Obj.repr 7n ]
let small = Array.map Int32.of_int (Array.init 3 Fun.id)
let large = Array.map Int64.of_int (Array.init 3 Fun.id)
let native = Array.map Nativeint.of_int (Array.init 3 Fun.id)
let mutex = Mutex.create ()
let condition = Condition.create ()
let bigarray = Bigarray.Array1.create Bigarray.char Bigarray.c_layout 10
let channel = open_in "/dev/null"

let weak : int ref Weak.t = Weak.create 3
let key = ref 5
let ephemeron =
  let e = Obj.Ephemeron.create 1 in
  Obj.Ephemeron.set_key e 0 (Obj.repr key);
  Obj.Ephemeron.set_data e (Obj.repr 5);
  e

class counter start = object
  val mutable count = start
  method add x = count <- count + x
  method total = count
end
class named_counter name start = object
  inherit counter start
  method name = name ^ string_of_int start
end
let objects = [| new counter 3; (new named_counter "x" 4 :> counter) |]

exception Closed of int
type event = ..
type event += Opened of string
let constructors = [ Obj.repr (Closed 3); Obj.repr (Opened "x") ]

let variants : [ `Delivered of int | `Sent of string ] array =
  Array.init 3 (fun i -> if i = 0 then `Delivered (Sys.opaque_identity i) else `Sent (string_of_int i))
let shown = Sys.opaque_identity [ "`Delivered"; "Sent" ]
let untold : [ `Nowhere_in_strings of int ] array = Array.init 3 (fun i -> `Nowhere_in_strings i)

let () =
  let kept = ref [] in
  for _ = 1 to 2000 do
    kept := partial_of_two () :: !kept
  done;
  Weak.set weak 0 (Some key);
  ignore (Sys.opaque_identity (one, two, tuple, anonymous, local, boxed, small, large, native, mutex));
  ignore (Sys.opaque_identity (condition, bigarray, channel, weak, ephemeron, objects, constructors));
  ignore (Sys.opaque_identity (variants, shown, untold));
  Printf.printf "%d\n" (List.length (Sys.opaque_identity !kept))
