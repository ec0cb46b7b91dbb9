(* Timers that are set for each call and cancelled; the cancelled ones are removed only in the twin.
   run leak 250000: Timeouts.Timer.heap grows, allocated in Timeouts.Timer.set
   run sound 250000: no suspect
   long 1000000 *)
module Times = Map.Make (Float)
module Timer = struct
  type t = { at : float; mutable action : (unit -> unit) option; note : string }
  let heap : t Times.t ref = ref Times.empty
  let set at action =
    let timer = { at; action = Some action; note = "timeout at " ^ string_of_float at } in
    heap := Times.add at timer !heap; timer
  let cancel ~leaks timer = timer.action <- None; if not leaks then heap := Times.remove timer.at !heap
end
let () =
  let leaks = Sys.argv.(1) = "leak" and calls = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    let timer = Timer.set (float i +. 3600.) (fun () -> incr calls) in
    ignore (Sys.opaque_identity (List.init 50 string_of_int));
    Timer.cancel ~leaks timer
  done;
  Printf.printf "%d %d\n" !calls (Times.cardinal !Timer.heap)
