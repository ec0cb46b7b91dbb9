(* One job in ten fails, and goes to a queue that nobody reads. "sound" reads it once there are 200.
   run leak 400000: Dead_letters.Jobs.failed grows, allocated in Dead_letters.Jobs.job or Dead_letters.Jobs.run
   run sound 400000: no suspect
   long 1600000 *)
module Jobs = struct
  type job = { id : int; body : string; mutable tries : int }
  let waiting : job Queue.t = Queue.create ()
  let failed : job Queue.t = Queue.create ()
  let job i = { id = i; body = "job " ^ string_of_int i ^ String.make 300 'b'; tries = 0 }
  let submit i = Queue.push (job i) waiting
  let run () =
    let job = Queue.pop waiting in
    job.tries <- job.tries + 1;
    if job.id mod 10 = 3 then Queue.push job failed;
    String.length job.body
  let retry () = if Queue.length failed >= 200 then Queue.clear failed
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    Jobs.submit i;
    if i > 50 then sum := !sum + Jobs.run ();
    if not leaks then Jobs.retry ()
  done;
  Printf.printf "%d\n" !sum
