(* After eio#241 and miou#12 (fibers that wait for ever: who keeps them?). OCaml 5.
   EXPECTED: Sched.waiting : (string, (unit, unit) continuation) Hashtbl.t grows: suspended fibers (continuations with
   their stacks) of Client.session, suspended in Client.ack; never resumed. Owner Sched.waiting.
   needs OCaml 5
   run: Kept_fibers.Sched.waiting grows *)
open Effect
open Effect.Deep
type _ Effect.t += Await : string -> unit Effect.t
module Sched = struct
  let waiting : (string, (unit, unit) continuation) Hashtbl.t = Hashtbl.create 64
  let spawn f = match_with f ()
      { retc = Fun.id; exnc = raise;
        effc = (fun (type a) (e : a Effect.t) -> match e with
          | Await key -> Some (fun (k : (a, _) continuation) -> Hashtbl.replace waiting key k)
          | _ -> None) }
  let wake key = match Hashtbl.find_opt waiting key with
    | Some k -> Hashtbl.remove waiting key; continue k () | None -> ()
end
module Client = struct
  let done_ = ref 0
  let ack id = perform (Await id)
  let session i =
    let buffer = Bytes.make 600 'b' in
    ack (string_of_int i);
    done_ := !done_ + Bytes.length buffer
end
let () =
  let n = try int_of_string Sys.argv.(1) with _ -> 40_000 in
  for i = 1 to n do
    Sched.spawn (fun () -> Client.session i);
    if i mod 3 <> 0 then Sched.wake (string_of_int i);
    ignore (Sys.opaque_identity (List.init 100 string_of_int))
  done; Printf.printf "%d waiting %d\n" !Client.done_ (Hashtbl.length Sched.waiting)
