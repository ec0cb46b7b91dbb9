(* A producer that is faster than its consumer; the twin waits when the queue is full.
   run leak 400000: Queue_behind.Jobs.waiting grows, allocated in Queue_behind.Jobs.submit
   run sound 400000: no suspect
   long 2000000 *)
module Jobs = struct
  type t = { id : int; body : string }
  let waiting : t Queue.t = Queue.create ()
  let done_ = ref 0
  let submit i = Queue.push { id = i; body = "job " ^ string_of_int i ^ String.make 80 '.' } waiting
  let work () = match Queue.take_opt waiting with Some job -> done_ := !done_ + job.id + String.length job.body | None -> ()
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Jobs.submit i;
    if (not leaks) || i mod 3 > 0 then Jobs.work ();
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d %d\n" !Jobs.done_ (Queue.length Jobs.waiting)
