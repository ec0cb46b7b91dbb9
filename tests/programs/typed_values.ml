(* Values of each kind of type, all held by global variables. A string that begins with @ says what the block that
   points to it must be: type and constructor, as memtrail writes them. One that begins with ? is in a block whose
   type cannot be known, or which says nothing of the string. *)

(* Not a constant, as the compiler may share these. *)
let s text = Bytes.to_string (Bytes.of_string text)

type 'a record = { one : string; mutable two : 'a }
type ('k, 'v) variant =
  | Constant
  | Pair of 'k * 'v
  | Inline of { key : 'k; next : ('k, 'v) variant }
type _ gadt =
  | Text : string -> string gadt
  | Both : 'a gadt * 'b gadt * string -> ('a * 'b) gadt
  | Hidden : 'b * ('b -> string) * string -> unit gadt
type unboxed = { only : string array } [@@unboxed]
type wrapped = Wrapped of string list [@@unboxed]
type open_ = ..
type open_ += First of string | Second of { label : string }
exception Failed of string * int
type tree = { name : string; children : tree list }
type 'a nested = Leaf of string * 'a | Deeper of ('a * 'a) nested * string
type 'a constrained = { methods : 'a; text : string } constraint 'a = < get : 'b >
type pair_of_text = string * string
type numbers = { x : float; y : float }

module type S = sig
  val name : string
  val other : string list
end
module Sealed : sig
  type t
  val all : t list ref
end = struct
  type t = { text : string; size : int }
  let all = ref [ { text = s "@Typed_values.Sealed.t"; size = 1 } ]
end
module Make (K : Map.OrderedType) = struct
  type entry = { key : K.t; about : string }
  let entries : entry list ref = ref []
end
module Made = Make (String)
module By_text = Map.Make (String)
module Texts = Set.Make (String)
module Inner = struct
  module Deep = struct
    let found = Some (s "@string option.Some")
  end
  exception Local of string
end

(* Dynamic values: a tag is the hash of its name, and has the type of the values. *)
module Numbers = Map.Make (Int)
module Dynamic () : sig
  type 'a tag
  type t = Dyn : 'a tag * 'a -> t
  val create : string -> 'a tag
  val name : t -> string
  module Map (Value : sig type 'a t end) : sig
    type t
    val empty : t
    val add : 'a tag -> 'a Value.t -> t -> t
  end
end = struct
  type 'a tag = int
  type t = Dyn : 'a tag * 'a -> t
  let names = Hashtbl.create 10
  let create name =
    let tag = Hashtbl.hash name in
    Hashtbl.replace names tag name;
    tag
  let name (Dyn (tag, _)) = Hashtbl.find names tag
  module Map (Value : sig type 'a t end) = struct
    type t = Obj.t Value.t Numbers.t
    let empty = Numbers.empty
    let add tag (value : 'a Value.t) map = Numbers.add tag (Obj.magic value : Obj.t Value.t) map
  end
end
module Dyn = Dynamic ()
module Other = Dynamic ()

type 'a description = { called : string; print : 'a -> string }

let declare description =
  let tag = Dyn.create description.called in
  fun value -> Dyn.Dyn (tag, value)
let declare_named { called; print } =
  let tag = Dyn.create called in
  fun name value -> Dyn.Dyn (tag, (name, value))
let describe called = { called; print = (fun _ -> called) }
let words : string list Dyn.tag = Dyn.create "words of a text"
let other_words : string array Other.tag = Other.create "words of a text"
let in_option = declare { (describe "an option") with print = Option.get }
let in_pair : int -> string array -> Dyn.t = declare_named @@ describe "a pair"
(* One name for two types. *)
let first : string option Dyn.tag = Dyn.create "one name, two types"
let second : string list Dyn.tag = Dyn.create "one name, two types"
let unknown name = Dyn.create name
let dynamic =
  [
    Dyn.Dyn (words, [ s "@string list.::" ]);
    in_option (Some (s "@string option.Some"));
    in_pair 1 [| s "@string array"; s "@string array" |];
    Dyn.Dyn (first, Some (s "?"));
    Dyn.Dyn (second, [ s "?" ]);
    Dyn.Dyn (unknown ("a " ^ "name"), s "?");
  ]
let other_dynamic = [ Other.Dyn (other_words, [| s "@string array" |]) ]
let () = assert (List.for_all (fun value -> Dyn.name value <> "") dynamic)

(* Maps by tags, which are made by functions that put something behind a name. *)
module Lists = Dyn.Map (struct type 'a t = 'a list end)
module Plain = Dyn.Map (struct type 'a t = 'a end)
let lists = ref Lists.empty
let plain = ref Plain.empty
let mangle name = name ^ "-table"
let declare_table name make =
  let tag = Dyn.create (mangle name) in
  lists := Lists.add tag [ make () ] !lists;
  plain := Plain.add tag (make ()) !plain;
  (name, tag)
let table_of ?(all = "all tables") ~name make = all ^ fst @@ declare_table name make
let other_name = "a table of options"
let tables =
  [ table_of ~name:"a table of pairs" (fun () -> (s "@string * int", 1));
    table_of ~name:other_name (fun () -> Some (s "@string option.Some"));
    table_of ~name:("computed" ^ string_of_int (Sys.word_size)) (fun () -> [| s "?" |]) ]

let tuple = (s "@string * int", 1)
let triple = (1.5, s "@float * string * int list", [ 1 ])
let record = { one = s "@int list Typed_values.record"; two = [ 1 ] }
let records = [ { one = s "@string Typed_values.record"; two = s "@string Typed_values.record" } ]
let list = [ s "@string list.::"; s "@string list.::" ]
let option = Some (s "@string option.Some")
let array = [| s "@string array"; s "@string array" |]
let matrix = [| [| s "@string array" |]; [||] |]
let reference = ref (s "@string ref")
let variant =
  Inline { key = s "@(string, string list) Typed_values.variant.Inline";
           next = Pair (s "@(string, string list) Typed_values.variant.Pair", [ s "@string list.::" ]) }
let gadt =
  Both (Text (s "@string Typed_values.gadt.Text"),
        Hidden (ref (s "?"), (fun r -> !r), s "@unit Typed_values.gadt.Hidden"),
        s "@(string * unit) Typed_values.gadt.Both")
let unboxed = { only = [| s "@string array" |] }
let wrapped = Wrapped [ s "@string list.::" ]
let open_values =
  [ First (s "@Typed_values.open_.Typed_values.First");
    Second { label = s "@Typed_values.open_.Typed_values.Second" } ]
let exceptions : exn list =
  [ Failed (s "@exn.Typed_values.Failed", 1); Inner.Local (s "@exn.Typed_values.Inner.Local"); Not_found ]
let predefined =
  let local text = let exception Failure of string * int in Failure (text, 1) in
  [ Failure (s "@exn.Failure"); Invalid_argument (s "@exn.Invalid_argument"); Sys_error (s "@exn.Sys_error");
    Match_failure (s "@string * int * int", 1, 2); Assert_failure (s "@string * int * int", 1, 2); local (s "?") ]
let tree = { name = s "@Typed_values.tree"; children = [ { name = s "@Typed_values.tree"; children = [] } ] }
let nested =
  Deeper (Leaf (s "@(string * string) Typed_values.nested.Leaf", (s "@string * string", s "@string * string")),
          s "@string Typed_values.nested.Deeper")
let constrained =
  { methods = object method get = 1 end; text = s "@< get : int > Typed_values.constrained" }
let alias : pair_of_text list = [ (s "@string * string", s "@string * string") ]
let numbers = [ { x = 1.; y = 2. } ]
let made = Made.entries
let () =
  made := [ { Made.key = s "@Typed_values.Make(String).entry"; about = s "@Typed_values.Make(String).entry" } ]
let map =
  By_text.add (s "@string Map.Make(String).t.Node") (s "@string Map.Make(String).t.Node") By_text.empty
let set = Texts.add (s "@Set.Make(String).t.Node") Texts.empty
let table : (string, string list) Hashtbl.t = Hashtbl.create 10
let () =
  for _ = 1 to 5 do
    Hashtbl.add table (s "@(string, string list) Hashtbl.bucketlist.Cons") [ s "@string list.::" ]
  done
let queue = Queue.create ()
let () = for _ = 1 to 3 do Queue.add (s "@string Queue.cell.Cons") queue done
let stack = Stack.create ()
let () = Stack.push (s "@string list.::") stack
let polymorphic = [ `A (s "@[ `A of string | `B ]"); `B ]
let several =
  [ `P (s "@string * int", 1); `Q (s "@[ `P of (string * int) | `Q of string ]") ]
type 'a tagged = { payload : 'a; note : string } constraint 'a = [> `X of string ]
let with_more_tags : [ `X of string | `Y of string * int array ] tagged list =
  [ { payload = `X (s "@[ `X of string | `Y of (string * int array) ]"); note = s "@[ `X of string | `Y of (string * int array) ] Typed_values.tagged" };
    { payload = `Y (s "@string * int array", [| 1; 2 |]); note = "" } ]
let by_tag = [ `First (s "@string * int", 1); `Second (s "@string * bool", true) ]
let packed =
  (module struct
    let name = s "@module Typed_values.S"
    let other = [ s "@string list.::" ]
  end : S)
let forced = lazy (s "@string * int", 1)
let forced_list = [ forced ]
let () = ignore (Lazy.force forced)
let atomic = Atomic.make (s "@string Atomic.t")
let result : (string, string * int) result = Error (s "@string * int", 1)
let sequence () = Seq.Cons (s "?", fun () -> Seq.Nil)
let weak = Weak.create 3
let kept = [ (s "@string * string", s "@string * string") ]
let () = Weak.set weak 0 (Some (List.hd kept))
let buffer = Buffer.create 10
let () = Buffer.add_string buffer "?"
let any : Obj.t = Obj.repr (ref (s "?"))
let made_object = object val text = s "?" method get = text end
(* What functions capture: a string that is captured itself is in a function. *)
let captured =
  let inside = (s "@string * int", 1) in
  fun () -> inside
let in_order =
  let d = s "@function" and c = ref (s "@string ref") in
  let b = [ s "@string list.::" ] and a = (s "@string * int", 1) and number = String.length !c in
  fun x y -> if x then (a, b, number) else (c := d ^ y; (a, b, 0))
let on_one_line =
  let make text pair = ((fun () -> fst pair ^ "."), (fun x -> x ^ text ^ fst pair), fun () -> snd pair + 1) in
  (* A function that is used once is inlined. *)
  (make (s "@function") (s "@string * int", 1), make (s "@function") (s "@string * int", 1))
let rec_group =
  let text = s "@function" and cells = [ s "@string list.::" ] in
  let rec even n = if n = 0 then cells else odd (n - 1)
  and odd n = if n = 0 then [ text ] else even (n - 1) in
  (even, odd)
let with_default =
  let default = [ s "@string list.::" ] and pair = (s "@string * int", 1) in
  fun ?(extra = default) () -> (extra, pair)
let aliased =
  let make = function
    | (((text, _) as pair) :: _) as all -> fun () -> (pair, text ^ "!", all)
    | other -> fun () -> (("", 0), "", other)
  in
  (make [ (s "?", 1) ], make [])
let shadowed =
  let it = (s "@string * int", 1) in
  let first () = fst it ^ "." in
  let it = [ s "@string list.::" ] in
  (first, fun () -> List.length it)
let either =
  let make = function
    | `Left (text, more) | `Right (more, text) -> fun () -> (text ^ "!", more : string * string list)
    | `Neither -> fun () -> ("", [])
  in
  [ make (`Left (s "@function", [ s "@string list.::" ])); make (`Right ([ s "@string list.::" ], s "@function")) ]
let nested_functions =
  let outer = [ s "@string list.::" ] in
  let first text =
    let pair = (s "@string * int", 1) in
    fun () -> List.map (fun one -> let length = String.length one in fun () -> (length, text ^ "!", pair, outer)) outer
  in
  let within = first (s "@function") in
  (within, within ())
let three a b c = String.concat a b ^ c
let partial = three (s "@function") [ s "?" ]
let partial_within =
  let text = s "@function" and list = [ s "?" ] in
  fun () -> three text list
let partials = (partial_within (), partial_within)
let generic value = fun () -> (value, 1)
let generics = (generic (s "@function"), generic (ref (s "?")))
let suspended =
  let text = s "@function" and pair = (s "@string * int", 1) in
  lazy (text ^ fst pair)
let in_loop =
  let all = ref [] in
  for i = 1 to 2 do
    let pair = (s "@string * int", i) in
    all := (fun () -> (i, pair)) :: !all
  done;
  !all
let with_mutable =
  let state = ref (s "@string ref") in
  ((fun text -> state := text), fun () -> !state)
module Capturing (K : sig type t val all : t list val about : string end) = struct
  type entry = { of_k : K.t list; why : string list }
  let entry = { of_k = K.all; why = [ s "@string list.::" ] }
  let get () = (entry, K.about)
  let size = let pair = (s "@string * int", 1) in fun () -> snd pair + List.length K.all
end
module Capturing_text = Capturing (struct type t = string let all = [ s "@Typed_values.Capturing_text.(argument).t list.::" ] let about = s "?" end)
module Capturing_int = Capturing (struct type t = int let all = [ 1 ] let about = s "?" end)
let capturing = (Capturing_text.get, Capturing_text.size, Capturing_int.get)
let handler =
  let pair = (s "@string * int", 1) in
  fun f -> try f () with Failed (text, _) when text <> fst pair -> text
let operators =
  let pair = (s "@string * int", 1) in
  let ( >>= ) x f = if x = fst pair then f x else x in
  [ ( >>= ) ]

let () =
  Gc.full_major ();
  print_endline (string_of_int (List.length (polymorphic :> [ `A of string | `B ] list) + List.length several + List.length with_more_tags))
