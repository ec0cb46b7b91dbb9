(* Reads the .cmt and .cmi files of a unit. *)

let rejected = 2

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

(* What the files say of the unit with this interface. *)
let read name wanted files =
  let found = { signature = None; structure = None; signature_file = ""; structure_file = "" } in
  List.iter
    (fun path ->
      if found.signature = None || found.structure = None then
        try look name wanted found path with exn -> reject path damaged (explain exn))
    files;
  if found.signature = None && found.structure <> None then
    reject found.structure_file incomplete "its interface file is missing";
  found
