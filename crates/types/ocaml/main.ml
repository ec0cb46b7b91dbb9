(* Reads .cmt and .cmi files and writes the layout of units' blocks.

   Standard input has a request after the other: fields that end with a zero byte. A request is a unit's
   name, its interface's digest in hexadecimal, the number of files, the files. For each request, standard
   output gets a section of kind BEGUN, for each file that cannot be used one of kind REJECTED, and one of
   kind UNIT if files with this digest were found. A damaged file may end this process: the section BEGUN
   gives the unit. *)

let begun = 1
let rejected = 2
let unit_found = 3

(* Why a file is not used. *)
let stale = 0
let damaged = 1
let other_unit = 2
let incomplete = 3

let reject path reason detail =
  let buffer = Buffer.create 100 in
  Wire.text buffer path;
  Wire.number buffer reason;
  Wire.text buffer detail;
  Wire.section stdout rejected buffer

type found = {
  mutable signature : Types.signature option;
  mutable structure : Typedtree.structure option;
  mutable signature_file : string;
  mutable structure_file : string;
}

let own_digest name crcs =
  match List.assoc_opt name crcs with Some (Some digest) -> Some digest | _ -> None

let look name wanted found path =
  let interface, annotations = Cmt_format.read path in
  let digest =
    match (interface, annotations) with
    | Some cmi, _ -> own_digest name cmi.Cmi_format.cmi_crcs
    | None, Some cmt -> (
        match cmt.Cmt_format.cmt_interface_digest with
        | Some digest -> Some digest
        | None -> own_digest name cmt.cmt_imports)
    | None, None -> None
  in
  let modname =
    match (interface, annotations) with
    | Some cmi, _ -> cmi.Cmi_format.cmi_name
    | None, Some cmt -> cmt.Cmt_format.cmt_modname
    | None, None -> ""
  in
  if modname <> name then reject path other_unit modname
  else
    match digest with
    | None -> reject path incomplete "no digest"
    | Some digest when digest <> wanted -> reject path stale (Digest.to_hex digest)
    | Some _ -> (
        (match interface with
        | Some cmi when found.signature = None ->
            found.signature <- Some cmi.cmi_sign;
            found.signature_file <- path
        | _ -> ());
        match annotations with
        | Some { Cmt_format.cmt_annots = Implementation structure; _ }
          when found.structure = None ->
            found.structure <- Some structure;
            found.structure_file <- path
        | Some { Cmt_format.cmt_annots = Partial_implementation _; _ } ->
            reject path incomplete "compiled with errors"
        | _ -> ())

let explain = function
  | Cmi_format.Error (Not_an_interface _) -> "no interface file"
  | Cmi_format.Error (Wrong_version_interface (_, version)) -> "made by " ^ version
  | Cmi_format.Error (Corrupted_interface _) -> "corrupted"
  | End_of_file -> "ends too early"
  | Failure message -> message
  | exn -> Printexc.to_string exn

let answer name wanted files =
  let buffer = Buffer.create 100 in
  Wire.text buffer name;
  Wire.section stdout begun buffer;
  let found = { signature = None; structure = None; signature_file = ""; structure_file = "" } in
  List.iter
    (fun path ->
      if found.signature = None || found.structure = None then
        try look name wanted found path with exn -> reject path damaged (explain exn))
    files;
  match found.signature with
  | None ->
      if found.structure <> None then
        reject found.structure_file incomplete "its interface file is missing"
  | Some signature -> (
      try
        let exported, hidden = Layout.of_unit signature found.structure in
        let files = Hashtbl.create 4 in
        let slots = Buffer.create 1000 in
        Wire.slots slots files exported;
        Wire.slots slots files hidden;
        let names = Array.make (Hashtbl.length files) "" in
        Hashtbl.iter (fun file n -> names.(n - 1) <- file) files;
        let buffer = Buffer.create 1000 in
        Wire.text buffer name;
        Wire.text buffer wanted;
        Wire.text buffer found.signature_file;
        Wire.text buffer found.structure_file;
        Wire.number buffer (Array.length names);
        Array.iter (Wire.text buffer) names;
        Wire.number buffer (if Layout.may_have_method_cache found.structure then 1 else 0);
        Buffer.add_buffer buffer slots;
        Wire.section stdout unit_found buffer
      with exn -> reject found.structure_file damaged (explain exn))

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

let () =
  set_binary_mode_in stdin true;
  set_binary_mode_out stdout true;
  try
    while true do
      let name = field stdin in
      let wanted = Digest.from_hex (field stdin) in
      let count = int_of_string (field stdin) in
      let files = List.init count (fun _ -> field stdin) in
      answer name wanted files
    done
  with End_of_file -> ()
