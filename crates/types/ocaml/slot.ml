(* A slot of a module's block. *)

type kind = Value | Module | Functor | Exception | Class

type t = {
  kind : kind;
  (* The modules inside the unit that the value is in, from the outermost on, then its own name. *)
  path : string list;
  (* As its module writes it; empty if it has none. *)
  ty : string;
  position : Location.t;
  (* Of its identifier, if it is a function with code of its own; otherwise 0. *)
  stamp : int;
}

let code = function
  | Value -> 0
  | Module -> 1
  | Functor -> 2
  | Exception -> 3
  | Class -> 4

(* Longer texts of types are cut. *)
let longest_type = 1000

let replace_all text separator replacement =
  let length = String.length separator in
  let buffer = Buffer.create (String.length text) in
  let rec go i =
    if i >= String.length text then ()
    else if i + length <= String.length text && String.sub text i length = separator then begin
      Buffer.add_string buffer replacement;
      go (i + length)
    end
    else begin
      Buffer.add_char buffer text.[i];
      go (i + 1)
    end
  in
  go 0;
  Buffer.contents buffer

(* [Lib__] is the module that dune gives a library's modules their short names in. *)
let without_end text ending =
  let rest = String.length text - String.length ending in
  if rest > 0 && String.sub text rest (String.length ending) = ending then String.sub text 0 rest
  else text

(* One line, without the standard library's prefix, [A__B] written as [A.B], and without the numbers that
   the compiler's printer puts behind names that it has seen before ([t/2]). *)
let tidy text =
  let line = String.concat " " (List.filter (( <> ) "") (String.split_on_char '\n' text)) in
  let line = String.concat " " (List.filter (( <> ) "") (String.split_on_char ' ' line)) in
  let is_word c =
    match c with 'a' .. 'z' | 'A' .. 'Z' | '0' .. '9' | '_' | '\'' -> true | c -> c >= '\128'
  in
  let buffer = Buffer.create (String.length line) in
  let length = String.length line in
  (* Each word by itself: strings and comments do not occur in types. *)
  let rec go i =
    if i < length then
      if is_word line.[i] then begin
        let j = ref i in
        while !j < length && is_word line.[!j] do incr j done;
        let word = String.sub line i (!j - i) in
        let after_dot = i > 0 && line.[i - 1] = '.' in
        let before_dot = !j < length && line.[!j] = '.' in
        if word = "Stdlib" && before_dot && not after_dot then go (!j + 1)
        else begin
          let stdlib = "Stdlib__" in
          let n = String.length stdlib in
          let word =
            if before_dot && (not after_dot) && String.length word > n
               && String.sub word 0 n = stdlib
            then String.capitalize_ascii (String.sub word n (String.length word - n))
            else word
          in
          let is_module = word <> "" && word.[0] >= 'A' && word.[0] <= 'Z' in
          Buffer.add_string buffer
            (if before_dot && is_module then replace_all (without_end word "__") "__" "." else word);
          go !j
        end
      end
      else if line.[i] = '/' then begin
        let j = ref (i + 1) in
        while !j < length && line.[!j] >= '0' && line.[!j] <= '9' do incr j done;
        go !j
      end
      else begin
        Buffer.add_char buffer line.[i];
        go (i + 1)
      end
  in
  go 0;
  Buffer.contents buffer

let cut text =
  if String.length text <= longest_type then text
  else begin
    (* Not within a character. *)
    let rec boundary i = if i > 0 && Char.code text.[i] land 0xC0 = 0x80 then boundary (i - 1) else i in
    String.sub text 0 (boundary longest_type) ^ "\xE2\x80\xA6"
  end

let print printer value =
  let buffer = Buffer.create 80 in
  let formatter = Format.formatter_of_buffer buffer in
  Format.pp_set_geometry formatter ~max_indent:999_998 ~margin:999_999;
  printer formatter value;
  Format.pp_print_flush formatter ();
  cut (tidy (Buffer.contents buffer))

(* A type that cannot be printed is none. *)
let type_text ty = try print Printtyp.type_scheme ty with _ -> ""
let path_text path = try print Printtyp.path path with _ -> ""
