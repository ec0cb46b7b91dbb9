type 'a record = { one : 'a; mutable two : string list }
type floats = { x : float; y : float }
type unboxed = { only : int array } [@@unboxed]
type wrapped = Wrapped of string [@@unboxed]
type ('k, 'v) variant = Constant | Pair of 'k * 'v | Tuple of ('k * 'v) | Inline of { key : 'k; next : ('k, 'v) variant }
type _ gadt = Int : int -> int gadt | List : 'a gadt * 'a list -> 'a list gadt | Hidden : 'b * ('b -> string) -> unit gadt
type any = Any : 'a list * ('a -> unit) -> any
type open_ = ..
type open_ += First of int | Second of { label : string }
exception Failed of string * int
exception Renamed = Failed
exception Constant_one
type 'a constrained = { methods : 'a } constraint 'a = < get : 'b; set : 'b -> unit >
type alias = (string * int) list
type 'a twice = ('a * 'a) record
type private_ = private int
type again = floats = { x : float; y : float }

module type Key = sig type t val compare : t -> t -> int end
module Text = struct type t = string let compare = compare end
module By_text = Map.Make (Text)
module By_pair = Map.Make (struct type t = int * string let compare = compare end)
module Sealed : sig type t val make : string -> t val all : t list ref end = struct
  type t = { name : string; hidden : int list }
  let make name = { name; hidden = [] }
  let all = ref [ make "a" ]
end
module Make (K : Key) = struct
  type entry = { key : K.t; count : int ref }
  module Nested = struct type t = entry list end
  let entries : Nested.t ref = ref []
end
module Made = Make (Text)
module rec Even : sig type t = Zero | Next of Odd.t val start : t end = struct
  type t = Zero | Next of Odd.t
  let start = Zero
end
and Odd : sig type t = Next of Even.t end = struct type t = Next of Even.t end
include struct type included = Included of int list let included = Included [ 1 ] end
module Shadowed = struct
  type t = int list
  let first : t = [ 1 ]
  type u = t
  let second : u list = [ first ]
end
class counter = object val mutable n = 0 method get = n method next : int list = [ n ] end

let record = { one = 1.5; two = [ "a" ] }
let floats : floats = { x = 1.; y = 2. }
let unboxed = { only = [| 1 |] }
let wrapped = Wrapped "w"
let variant : (int, string) variant = Pair (1, "b")
let gadt = List (Int 1, [ 2 ])
let any = Any ([ 1 ], ignore)
let open_ = First 1
let error : exn = Failed ("a", 1)
let constrained = let o = object method get = 1 method set (_ : int) = () end in { methods = o }
let alias : alias = [ ("a", 1) ]
let twice : string twice = { one = ("a", "b"); two = [] }
let by_text = By_text.singleton "a" [ 1.5 ]
let by_pair = By_pair.singleton (1, "a") 'c'
let table : (string, floats) Hashtbl.t = Hashtbl.create 1
let made = Made.entries
let even = Even.Next (Odd.Next Even.Zero)
let delayed = lazy [ 1 ]
let tag = `B [ ("a", 2.) ]
let tags : [ `A | `B of int list ] list = [ `A; `B [ 1 ] ]
let packed = (module Text : Key with type t = string)
let counter = new counter
let big = 5L
let optional = Some [| "a" |]
let nested = ref (fun (x : int) -> x)
let labelled = ref (fun ?(x = 0) ~y:(a, b) () -> (x + a, b ^ ""))
let higher = [ (fun (f : int -> string) (g : int * int -> unit) -> (f, g)) ]
let queue : int list Queue.t = Queue.create ()
let weak : string Weak.t = Weak.create 1
let buffer = Buffer.create 1
let bytes = Bytes.create 1
let chain = object (self) method next = self end
let channel = stdout
let polymorphic = []
let either : (int, string) Result.t = Ok 1
let sequence : int Seq.t = Seq.empty
