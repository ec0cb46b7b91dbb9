(* Each request subscribes to an event; the twin unsubscribes when the request ends.
   run leak 150000: Listeners.Bus.handlers grows, allocated in Listeners.Request.serve
   run sound 150000: no suspect
   long 1000000 *)
module Bus = struct
  let handlers : (int * (string -> unit)) list ref = ref []
  let next = ref 0
  let subscribe f = incr next; handlers := (!next, f) :: !handlers; !next
  let unsubscribe id = handlers := List.filter (fun (i, _) -> i <> id) !handlers
end
module Request = struct
  let seen = ref 0
  let serve ~leaks i =
    let page = String.make 200 'p' in
    let id = Bus.subscribe (fun s -> seen := !seen + String.length s + String.length page + i) in
    if not leaks then Bus.unsubscribe id
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Request.serve ~leaks i;
    ignore (Sys.opaque_identity (List.init 60 string_of_int))
  done;
  Printf.printf "%d\n" (List.length !Bus.handlers)
