(* The format of `crates/types/src/format.rs`. *)

let number buffer n =
  let rec go n =
    if n < 128 then Buffer.add_char buffer (Char.chr n)
    else begin
      Buffer.add_char buffer (Char.chr (n land 127 lor 128));
      go (n lsr 7)
    end
  in
  go (max n 0)

let text buffer s =
  number buffer (String.length s);
  Buffer.add_string buffer s

let section channel kind payload =
  let head = Buffer.create 16 in
  number head kind;
  number head (Buffer.length payload);
  Buffer.output_buffer channel head;
  Buffer.output_buffer channel payload;
  flush channel

(* A place in a source file; the file by its number from 1, in the order of [files]. *)
let position buffer files (position : Location.t) =
  let start = position.loc_start in
  let known = start.Lexing.pos_lnum > 0 && not position.loc_ghost in
  let file =
    if not known then 0
    else
      match Hashtbl.find_opt files start.pos_fname with
      | Some n -> n
      | None ->
          let n = Hashtbl.length files + 1 in
          Hashtbl.add files start.pos_fname n;
          n
  in
  number buffer file;
  number buffer (if known then start.pos_lnum else 0);
  number buffer (if known then max 0 (start.pos_cnum - start.pos_bol) + 1 else 0)

let slot buffer files (slot : Slot.t) =
  number buffer (Slot.code slot.kind);
  number buffer (List.length slot.path);
  List.iter (text buffer) slot.path;
  text buffer slot.ty;
  position buffer files slot.position;
  number buffer slot.stamp

let slots buffer files slots =
  number buffer (List.length slots);
  List.iter (slot buffer files) slots

(* The names of the files that positions spoke of, in the order of their numbers. *)
let file_names files =
  let names = Array.make (Hashtbl.length files) "" in
  Hashtbl.iter (fun file n -> names.(n - 1) <- file) files;
  names
