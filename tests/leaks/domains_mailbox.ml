(* Domains send to a mailbox that nobody reads to its end; the twin reads all.
   needs OCaml 5
   run leak 60000: Domains_mailbox.Mailbox.messages grows, allocated in Domains_mailbox.Mailbox.send or Domains_mailbox.producer
   run sound 60000: no suspect
   long 400000 *)
module Mailbox = struct
  let lock = Mutex.create ()
  let messages : string Queue.t = Queue.create ()
  let send i = let text = Printf.sprintf "message %d" i in Mutex.protect lock (fun () -> Queue.push text messages)
  let read () = Mutex.protect lock (fun () -> ignore (Queue.take_opt messages))
end
let producer ~leaks n () =
  for i = 1 to n do
    Mailbox.send i;
    if (not leaks) || i mod 4 = 0 then Mailbox.read ();
    ignore (Sys.opaque_identity (List.init 60 string_of_int))
  done
let () =
  let leaks = Sys.argv.(1) = "leak" and n = int_of_string Sys.argv.(2) in
  let domains = List.init 2 (fun _ -> Domain.spawn (producer ~leaks n)) in
  List.iter Domain.join domains;
  Printf.printf "%d\n" (Queue.length Mailbox.messages)
