(* Each request of 500 sessions is put into a queue of expiries, an hour ahead. In "leak" no older entry of the session
   is dropped; in "sound" the session has one entry.
   run leak 300000: Session_touches.Expiry.queue grows, allocated in Session_touches.Expiry.touch or Session_touches.Expiry
   run sound 300000: no suspect
   long 1200000 *)
module Expiry = struct
  type entry = { session : int; at : float; token : string }
  let queue : entry Queue.t = Queue.create ()
  let latest : (int, entry) Hashtbl.t = Hashtbl.create 500
  let token i = Printf.sprintf "%016x%016x" i (i * 7919)
  let touch leaks now session =
    let entry = { session; at = now +. 3600.; token = token session } in
    if leaks then Queue.push entry queue else Hashtbl.replace latest session entry;
    entry
  let expire now =
    while (not (Queue.is_empty queue)) && (Queue.peek queue).at < now do ignore (Queue.pop queue) done
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    let now = float_of_int i /. 1000. in
    let entry = Expiry.touch leaks now (i mod 500) in
    sum := !sum + entry.session + String.length entry.token;
    ignore (Sys.opaque_identity (List.init 15 string_of_int));
    Expiry.expire now
  done;
  Printf.printf "%d\n" !sum
