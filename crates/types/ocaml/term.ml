(* Types as terms, as `crates/types/src/term.rs` has them. Equal terms have one number. *)

type t =
  | Unknown of string
  | Variable of int
  | Constant of string
  | Text of string
  | Float
  | Boxed of string
  | Function
  | Arrow of string * int * int
  | Tuple of int list
  | Array of int
  | Float_array
  | Lazy of int
  | Declared of int * int list
  | Polymorphic_variant of (string * int option) list
  | Object of (string * int) list
  | Package of int

type field = { label : string; field_type : int }

type constructor = {
  constructor_name : string;
  tag : int option;
  arguments : field list;
  result : int list option;
}

type definition =
  | Abstract
  | Alias of int
  | Record of field list * bool
  | Variant of constructor list
  | Unboxed of int
  | Open

type declaration = {
  name : string;
  position : Location.t;
  variables : int;
  parameters : int list;
  definition : definition;
}

type extension = {
  extension_name : string;
  of_type : int;
  extension_arguments : field list;
  extension_result : int list option;
  is_record : bool;
}

type content =
  | Nothing_known
  | Value of int
  | Module of int
  | Extension of int

type layout = { path : string; slots : (Slot.t * content) list }

type function_ = {
  symbol : string;
  is_anonymous : bool;
  place : ((int * int) * (int * int)) option;
  words_before : int;
  environment : (string * int option) list;
  partial : (int * int) list;
}

(* Rows by their numbers. *)
type 'a rows = { mutable rows : 'a array; mutable count : int }

let rows () = { rows = [||]; count = 0 }

let push rows row =
  if rows.count = Array.length rows.rows then
    rows.rows <- Array.append rows.rows (Array.make (max 64 rows.count) row);
  rows.rows.(rows.count) <- row;
  rows.count <- rows.count + 1;
  rows.count - 1

let get rows number = rows.rows.(number)
let set rows number row = rows.rows.(number) <- row
let terms : t rows = rows ()
let numbers : (t, int) Hashtbl.t = Hashtbl.create 10_000

let intern term =
  match Hashtbl.find_opt numbers term with
  | Some number -> number
  | None ->
      let number = push terms term in
      Hashtbl.add numbers term number;
      number

let unknown reason = intern (Unknown reason)

(* Whether something in a term is not known. *)
let rec has_unknown number =
  match get terms number with
  | Unknown _ -> true
  | Tuple parts | Declared (_, parts) -> List.exists has_unknown parts
  | Array part | Lazy part -> has_unknown part
  | Polymorphic_variant tags ->
      List.exists (function _, Some part -> has_unknown part | _, None -> false) tags
  | Object methods -> List.exists (fun (_, part) -> has_unknown part) methods
  | _ -> false

let declarations : declaration rows = rows ()
let extensions : extension rows = rows ()
let modules : layout rows = rows ()
let functions : function_ rows = rows ()
