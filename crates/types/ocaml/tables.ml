(* Writes terms, declarations, extensions and modules. *)

open Term

(* A section has about so many bytes. *)
let section_size = 60_000

let list buffer write rows =
  Wire.number buffer (List.length rows);
  List.iter (write buffer) rows

let option buffer write = function
  | None -> Wire.number buffer 0
  | Some value ->
      Wire.number buffer 1;
      write buffer value

let term buffer = function
  | Unknown reason -> Wire.number buffer 0; Wire.text buffer reason
  | Variable number -> Wire.number buffer 1; Wire.number buffer number
  | Constant name -> Wire.number buffer 2; Wire.text buffer name
  | Text name -> Wire.number buffer 3; Wire.text buffer name
  | Float -> Wire.number buffer 4
  | Boxed name -> Wire.number buffer 5; Wire.text buffer name
  | Function -> Wire.number buffer 6
  | Tuple parts -> Wire.number buffer 7; list buffer Wire.number parts
  | Array part -> Wire.number buffer 8; Wire.number buffer part
  | Float_array -> Wire.number buffer 9
  | Lazy part -> Wire.number buffer 10; Wire.number buffer part
  | Declared (number, arguments) ->
      Wire.number buffer 11;
      Wire.number buffer number;
      list buffer Wire.number arguments
  | Polymorphic_variant tags ->
      Wire.number buffer 12;
      list buffer
        (fun buffer (name, argument) ->
          Wire.text buffer name;
          option buffer Wire.number argument)
        tags
  | Object methods ->
      Wire.number buffer 13;
      list buffer
        (fun buffer (name, ty) ->
          Wire.text buffer name;
          Wire.number buffer ty)
        methods
  | Package number -> Wire.number buffer 14; Wire.number buffer number
  | Arrow (label, argument, result) ->
      Wire.number buffer 15;
      Wire.text buffer label;
      Wire.number buffer argument;
      Wire.number buffer result

let field buffer { label; field_type } =
  Wire.text buffer label;
  Wire.number buffer field_type

let numbers buffer = list buffer Wire.number

let constructor buffer { constructor_name; tag; arguments; result } =
  Wire.text buffer constructor_name;
  option buffer Wire.number tag;
  list buffer field arguments;
  option buffer numbers result

let definition buffer = function
  | Abstract -> Wire.number buffer 0
  | Alias ty -> Wire.number buffer 1; Wire.number buffer ty
  | Record (fields, is_floats) ->
      Wire.number buffer 2;
      list buffer field fields;
      Wire.number buffer (if is_floats then 1 else 0)
  | Variant constructors -> Wire.number buffer 3; list buffer constructor constructors
  | Unboxed ty -> Wire.number buffer 4; Wire.number buffer ty
  | Open -> Wire.number buffer 5

let declaration files buffer { name; position; variables; parameters; definition = defined } =
  Wire.text buffer name;
  Wire.position buffer files position;
  Wire.number buffer variables;
  numbers buffer parameters;
  definition buffer defined

let extension buffer { extension_name; of_type; extension_arguments; extension_result; is_record } =
  Wire.text buffer extension_name;
  Wire.number buffer of_type;
  list buffer field extension_arguments;
  option buffer numbers extension_result;
  Wire.number buffer (if is_record then 1 else 0)

let content buffer = function
  | Nothing_known -> Wire.number buffer 0
  | Value number -> Wire.number buffer 1; Wire.number buffer number
  | Module number -> Wire.number buffer 2; Wire.number buffer number
  | Extension number -> Wire.number buffer 3; Wire.number buffer number

let slot files buffer (slot, held) =
  Wire.slot buffer files slot;
  content buffer held

let layout files buffer { path; slots } =
  Wire.text buffer path;
  list buffer (slot files) slots

let place buffer (line, column) =
  Wire.number buffer line;
  Wire.number buffer column

let function_ buffer { symbol; is_anonymous; place = span; words_before; environment; partial } =
  Wire.text buffer symbol;
  Wire.number buffer (if is_anonymous then 1 else 0);
  option buffer
    (fun buffer (first, last) ->
      place buffer first;
      place buffer last)
    span;
  Wire.number buffer words_before;
  list buffer
    (fun buffer (name, ty) ->
      Wire.text buffer name;
      option buffer Wire.number ty)
    environment;
  list buffer place partial

(* The compiler knows the places of generated code, too. *)
let named files buffer (unit_name, functions) =
  Wire.text buffer unit_name;
  list buffer
    (fun buffer (name, location) ->
      Wire.text buffer name;
      Wire.position buffer files { location with Location.loc_ghost = false })
    functions

let dynamic buffer (tags, hash, term) =
  Wire.number buffer tags;
  Wire.number buffer hash;
  Wire.number buffer term

(* Sections of one kind: each has rows until it ends. *)
let sections kind write { rows; count } =
  let buffer = Buffer.create (2 * section_size) in
  let flush () =
    if Buffer.length buffer > 0 then Wire.section stdout kind buffer;
    Buffer.clear buffer
  in
  for i = 0 to count - 1 do
    write buffer rows.(i);
    if Buffer.length buffer >= section_size then flush ()
  done;
  flush ()
