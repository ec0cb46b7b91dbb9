(* The functions that memtrail's agent offers, reached through C; all of them do nothing where there is
   no agent. Those that look at the callstack must not be [@@noalloc]: the runtime saves where the stack
   ends only for calls that might allocate. *)
external is_recorded : unit -> bool = "memtrail_is_recorded" [@@noalloc]
external dump : string -> unit = "memtrail_dump"
external sample : bool -> unit = "memtrail_sample"
external currently_tracing : unit -> bool = "memtrail_is_sampling"

let start () = sample true
let stop () = sample false

(* Labels. *)

external label : string -> Obj.t = "memtrail_label"
external learn_label_frame : unit -> unit = "memtrail_learn_label_frame"
external keep : Obj.t -> unit = "memtrail_keep" [@@noalloc]

(* What [learn_label_frame] looks for. *)
let probe = Obj.repr 0x6d7472

(* The agent reads the label from this function's frame, whenever it finds one on a stack. So the label,
   and nothing else, must be alive during the call: [keep] sees to that. *)
let[@inline never] [@specialise never] [@local never] run label f =
  let result = f () in
  keep label;
  result

let learn () = learn_label_frame ()

let () = if is_recorded () then (Sys.opaque_identity run) probe (Sys.opaque_identity learn)

let with_label name f = run (label name) f

module External = struct
  type token = int

  external alloc : bytes:int -> token option = "memtrail_external_alloc"
  external free : token -> unit = "memtrail_external_free"
end

(* What keeps memory alive. *)

external globals : unit -> (string * Obj.t) array = "memtrail_globals"
external frames : unit -> (string * Obj.t) array = "memtrail_frames"

(* Calls [f] with each field of [block] that is a block. *)
let each_field block f =
  for index = 0 to Obj.size block - 1 do
    let value = Obj.field block index in
    if Obj.is_block value then f index value
  done

let print_reachable channel limit print block =
  each_field block (fun index value ->
      let words = Obj.reachable_words value in
      if words > limit then Printf.fprintf channel "%12d words  %s\n" words (print index))

let print_global_reachable channel limit =
  Array.iter
    (fun (name, block) ->
      let print index = Printf.sprintf "field %4d of %s" index name in
      print_reachable channel limit print block)
    (globals ())

let get_field_index value =
  let found = ref (-1) in
  Array.iter
    (fun (_, block) ->
      each_field block (fun index held -> if held == value && !found < 0 then found := index))
    (globals ());
  !found

let[@inline never] print_stack_reachable channel limit =
  let print number (place, values) =
    print_reachable channel limit
      (fun index -> Printf.sprintf "value %d of frame %d: %s" index number place)
      values
  in
  Array.iteri print (frames ())

(* In place of memtrace. *)

external set_memtrace : string -> unit = "memtrail_set_memtrace"
external record : string -> string -> string -> string option -> string = "memtrail_record"

type tracer = unit

let default_sampling_rate = 1e-4

let rate_of argument =
  let rate =
    match Sys.getenv_opt "MEMTRACE_RATE" with
    | None | Some "" -> argument
    | Some text -> Some (Option.value (float_of_string_opt text) ~default:Float.nan)
  in
  match rate with
  | Some rate when not (rate > 0. && rate <= 1.) ->
      invalid_arg "Memtrail.trace_if_requested: sampling_rate must be between 0 and 1"
  | rate -> Option.value rate ~default:default_sampling_rate

(* The first folder of that name that does not exist. *)
let rec folder_for file number =
  let name =
    if number = 1 then file ^ ".memtrail" else Printf.sprintf "%s-%d.memtrail" file number
  in
  if Sys.file_exists name then folder_for file (number + 1) else name

let say message hint = Printf.eprintf "memtrail: %s\nhint: %s\n%!" message hint

let trace_if_requested ?context ?sampling_rate () =
  match Sys.getenv_opt "MEMTRACE" with
  | None | Some "" -> ()
  | Some file ->
      let rate = rate_of sampling_rate in
      set_memtrace "";
      if not (is_recorded ()) then begin
        let folder = folder_for file 1 in
        let by_hand = Printf.sprintf "memtrail run -o %s -- %s" folder Sys.executable_name in
        match Sys.backend_type with
        | Native ->
            flush_all ();
            let failure = record folder file (Printf.sprintf "%.12g" rate) context in
            say (Printf.sprintf "not recorded: %s" failure) by_hand
        | _ -> say "not recorded: only native code can be" "compile with ocamlopt"
      end

let told = ref false

let start_tracing ~context:_ ~sampling_rate:_ ~filename:_ =
  if (not (is_recorded ())) && not !told then begin
    told := true;
    say "not recorded: the program runs without memtrail"
      (Printf.sprintf "memtrail run -- %s" Sys.executable_name)
  end;
  start ()

let stop_tracing () = stop ()
