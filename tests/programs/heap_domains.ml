(* Domains that run, that wait and that have ended, captured continuations, domain-local state.
   Prints its number when all of it is there, and waits for a line. *)
(* libs: unix *)
(* from: 5.0 *)

open Effect
open Effect.Deep

type _ Effect.t += Yield : unit Effect.t

(* 0: the effect's constructor *)
(* 1 *) let captured : (unit, unit) continuation list ref = ref []

let capture n =
  let body () =
    let held = Array.make (100 * n - 1) n in
    perform Yield;
    ignore (Sys.opaque_identity held)
  in
  match_with body ()
    { retc = Fun.id;
      exnc = raise;
      effc = (fun (type a) (e : a Effect.t) ->
        match e with
        | Yield -> Some (fun (k : (a, _) continuation) -> captured := k :: !captured)
        | _ -> None) }

let local = Domain.DLS.new_key (fun () -> [||])
let stop = Atomic.make false
let ready = Atomic.make 0

let work () =
  let l = ref [] in
  Atomic.incr ready;
  while not (Atomic.get stop) do l := List.init 100 Fun.id done;
  List.length !l

let by_another = Domain.join (Domain.spawn (fun () -> List.init 10_000 (fun i -> Some i)))

let () =
  for n = 1 to 5 do capture n done;
  Domain.DLS.set local (Array.make 4999 0);
  let busy = List.init 2 (fun _ -> Domain.spawn work) in
  let from, into = Unix.pipe () in
  let wait () = Atomic.incr ready; Unix.read from (Bytes.create 1) 0 1 in
  let idle = Domain.spawn wait in
  while Atomic.get ready < 3 do Domain.cpu_relax () done;
  Printf.printf "%d\n%!" (Unix.getpid ());
  ignore (input_line stdin);
  ignore (Unix.write_substring into "x" 0 1);
  ignore (Domain.join idle);
  Atomic.set stop true;
  List.iter (fun d -> ignore (Domain.join d)) busy;
  List.iter (fun k -> continue k ()) !captured;
  print_endline (string_of_int (List.length by_another))
