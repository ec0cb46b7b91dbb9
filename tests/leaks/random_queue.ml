(* Sound: a bounded queue whose length wanders.
   run 600000: no suspect
   long 2000000 *)
let queue : string Queue.t = Queue.create ()
let () =
  let state = Random.State.make [| 11 |] and sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(1) do
    if Random.State.bool state && Queue.length queue < 30_000 then Queue.push (Printf.sprintf "message %d" i) queue
    else if not (Queue.is_empty queue) then sum := !sum + String.length (Queue.pop queue);
    if i mod 1000 = 0 then for k = 1 to Random.State.int state 8_000 do
      if Queue.length queue < 30_000 then Queue.push (Printf.sprintf "burst %d" k) queue done;
    while Queue.length queue > 25_000 do ignore (Queue.pop queue) done;
    ignore (Sys.opaque_identity (List.init 30 string_of_int))
  done;
  Printf.printf "%d %d\n" !sum (Queue.length queue)
