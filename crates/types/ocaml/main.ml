(* Reads .cmt and .cmi files and writes the layout of units' blocks, or what they hold.

   Standard input has a request after the other: fields that end with a zero byte. A request is a unit's
   name, its interface's digest in hexadecimal, the number of files, the files. For each request, standard
   output gets a section of kind BEGUN and for each file that cannot be used one of kind REJECTED. A damaged
   file may end this process: the section BEGUN gives the unit.

   Without arguments, each unit is read by itself: a section of kind UNIT follows if files with this digest
   were found. With the argument [terms], all units are read before anything else, as they speak of each
   other. Then there is a section of kind BEGUN for each unit once more, followed by one of kind CONTENTS,
   and at the end all that these speak of. With the argument [closures], that is what functions capture, too: for
   this, interfaces are read that are no request's, and damaged ones may end this process. *)

let begun = 1
let unit_found = 3
let file_names = 6
let terms = 7
let declarations = 8
let modules = 9
let extensions = 10
let contents = 12
let closures = 13
let dynamic = 14
let named = 15

type request = { name : string; digest : string; files : string list }

let begin_unit name =
  let buffer = Buffer.create 100 in
  Wire.text buffer name;
  Wire.section stdout begun buffer

let answer { name; digest; files } =
  begin_unit name;
  let found = Unit_files.read name digest files in
  match found.signature with
  | None -> ()
  | Some signature -> (
      try
        let exported, hidden = Layout.of_unit signature found.structure in
        let files = Hashtbl.create 4 in
        let slots = Buffer.create 1000 in
        let slots_of = List.map (fun (item : Layout.item) -> item.slot) in
        Wire.slots slots files (slots_of exported);
        Wire.slots slots files (slots_of hidden);
        let buffer = Buffer.create 1000 in
        Wire.text buffer name;
        Wire.text buffer digest;
        Wire.text buffer found.signature_file;
        Wire.text buffer found.structure_file;
        let names = Wire.file_names files in
        Wire.number buffer (Array.length names);
        Array.iter (Wire.text buffer) names;
        Wire.number buffer (if Layout.may_have_method_cache found.structure then 1 else 0);
        Buffer.add_buffer buffer slots;
        Wire.section stdout unit_found buffer
      with exn -> Unit_files.(reject found.structure_file damaged (explain exn)))

let read_for_terms { name; digest; files } =
  begin_unit name;
  let found = Unit_files.read name digest files in
  Option.iter (fun signature -> Contents.add name signature found.structure) found.signature

let write_contents { name; _ } =
  if Hashtbl.mem Contents.units name then begin
    begin_unit name;
    match Contents.of_unit name with
    | exception _ -> ()
    | held ->
        Translate.complete ();
        let buffer = Buffer.create 1000 in
        Wire.text buffer name;
        Tables.list buffer Tables.content held;
        Wire.section stdout contents buffer
  end

let write_tables () =
  let files = Hashtbl.create 100 in
  Tables.sections terms Tables.term Term.terms;
  Tables.sections declarations (Tables.declaration files) Term.declarations;
  Tables.sections modules (Tables.layout files) Term.modules;
  Tables.sections extensions Tables.extension Term.extensions;
  Tables.sections closures Tables.function_ Term.functions;
  let tags = Term.rows () in
  List.iter (fun row -> ignore (Term.push tags row)) (Dynamic.rows ());
  Tables.sections dynamic Tables.dynamic tags;
  Tables.sections named (Tables.named files) Named.units;
  let names = Term.rows () in
  Array.iter (fun name -> ignore (Term.push names name)) (Wire.file_names files);
  Tables.sections file_names Wire.text names

let field channel =
  let buffer = Buffer.create 100 in
  let rec go () =
    match input_char channel with
    | '\000' -> Buffer.contents buffer
    | c ->
        Buffer.add_char buffer c;
        go ()
  in
  go ()

(* [None] at the end. *)
let request () =
  match field stdin with
  | exception End_of_file -> None
  | name ->
      let digest = Digest.from_hex (field stdin) in
      let count = int_of_string (field stdin) in
      Some { name; digest; files = List.init count (fun _ -> field stdin) }

let () =
  set_binary_mode_in stdin true;
  set_binary_mode_out stdout true;
  let rec each f = match request () with None -> () | Some request -> f request; each f in
  match Sys.argv with
  | [| _; (("terms" | "closures") as mode) |] ->
      let requests = ref [] in
      each (fun request -> requests := request :: !requests);
      let requests = List.rev !requests in
      if mode = "closures" then begin
        let folders = List.concat_map (fun { files; _ } -> List.map Filename.dirname files) requests in
        Closures.prepare (List.sort_uniq compare folders);
        Contents.with_functions := true
      end;
      List.iter read_for_terms requests;
      List.iter write_contents requests;
      Dynamic.find (Contents.structures ());
      write_tables ()
  | _ -> each answer
