(* A queue that falls behind, and one that fills in bursts and is emptied each time. The argument is which. *)

let pending : Bytes.t Queue.t = Queue.create ()
let steps = 24_000
let compose step = Bytes.make 900 (Char.chr (step land 127))
let post step = Queue.push (compose step) pending
let sent = ref 0
let send () = match Queue.take_opt pending with Some letter -> sent := !sent + Bytes.length letter | None -> ()
let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 150 string_of_int)

let () =
  let sum = ref 0 in
  for step = 1 to steps do
    (match Sys.argv.(1) with
    | "leak" ->
        post step;
        if step mod 3 <> 0 then send ()
    | "bursts" ->
        post step;
        if step mod 2_000 = 0 then
          while Queue.length pending > 100 do
            send ()
          done
    | other -> failwith other);
    sum := !sum + work step
  done;
  Printf.printf "%d %d %d\n" !sum !sent (Queue.length pending)
