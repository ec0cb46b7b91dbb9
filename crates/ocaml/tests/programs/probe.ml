(* Tells what the runtime knows of itself, then waits: its memory is looked at meanwhile.
   Each line begins with a word that says what it is. *)

let slots : (int, Printexc.raw_backtrace_slot) Hashtbl.t = Hashtbl.create 997

(* The slot as it stands in the trace; `get_raw_backtrace_slot` gives its debug information. *)
let raw trace i : int = Obj.obj (Obj.field (Obj.repr trace) i)

let remember trace =
  for i = 0 to Printexc.raw_backtrace_length trace - 1 do
    Hashtbl.replace slots (raw trace i) (Printexc.get_raw_backtrace_slot trace i)
  done

(* One line for the slot, one for each function inlined there, innermost first. *)
let print_slot word raw slot =
  Printf.printf "%s %d\n" word raw;
  let rec each = function
    | None -> ()
    | Some slot ->
      let known = Printexc.convert_raw_backtrace_slot slot in
      (match Printexc.Slot.location known with
       | None -> ()
       | Some l ->
         let name = Option.value ~default:"" (Printexc.Slot.name known) in
         Printf.printf "location %d %d %d %b\t%s\t%s\n" l.Printexc.line_number l.Printexc.start_char
           l.Printexc.end_char (Printexc.Slot.is_raise known) l.Printexc.filename name);
      each (Printexc.get_raw_backtrace_next_slot slot)
  in
  each (Some slot)

let[@inline always] pair x = (Sys.opaque_identity x, x + 1)
let[@inline always] twice x = (pair x, [ pair (x + 1) ])
let[@inline never] several x = (Some (Sys.opaque_identity x), [ x ], ref x, twice x)

module Make (M : sig val f : int -> int list end) = struct
  let[@inline never] run n = List.concat (List.map M.f [ n; n + 1; n + 2 ])
end

module Run = Make (struct let f n = [ n; Sys.opaque_identity n ] end)

let work () =
  ignore (Sys.opaque_identity (several 1));
  ignore (Sys.opaque_identity (Run.run 3));
  ignore (Sys.opaque_identity (String.concat "," (List.map string_of_int [ 1; 2; 3 ])));
  ignore (Sys.opaque_identity (Printf.sprintf "%d %s %f" 1 "x" 2.5));
  let table = Hashtbl.create 8 in
  for i = 0 to 200 do Hashtbl.replace table (string_of_int i) (float_of_int i) done;
  ignore
    (Sys.opaque_identity
       (Hashtbl.fold
          (fun key value rest -> if value > 100. && String.length key > 2 then (key, value) :: rest else rest)
          table []));
  (try ignore (Sys.opaque_identity (List.assoc 5 [ (1, 2) ])) with Not_found -> ());
  ignore (Sys.opaque_identity (Array.init 2000 (fun i -> Some i)))

let sample () =
  let track (info : Gc.Memprof.allocation) = remember info.Gc.Memprof.callstack; None in
  let tracker = { Gc.Memprof.null_tracker with alloc_minor = track; alloc_major = track } in
  match Gc.Memprof.start ~sampling_rate:1. ~callstack_size:100 tracker with
  | exception Failure _ -> ()
  | _ -> work (); Gc.Memprof.stop ()

let wait () =
  let trace = Printexc.get_callstack 1000 in
  let slots = Printexc.raw_backtrace_length trace in
  for i = 0 to slots - 1 do
    print_slot "frame" (raw trace i) (Printexc.get_raw_backtrace_slot trace i)
  done;
  Printf.printf "parameters %s\n" (Sys.runtime_parameters ());
  print_endline "ready";
  (try ignore (input_line stdin) with End_of_file -> ())

let[@inline never] rec deep n = if n = 0 then STEP else 1 + deep (n - 1)

let () =
  sample ();
  Hashtbl.iter (print_slot "slot") slots;
  ignore (Sys.opaque_identity (deep 40))
