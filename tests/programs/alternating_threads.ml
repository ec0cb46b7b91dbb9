(* Two threads that take turns at allocating, so that almost each sample is of another thread than the one before it.
   Argument: turns of each. *)
(* libs: unix threads *)

let turn = ref 0
let lock = Mutex.create ()
let changed = Condition.create ()

let take id turns =
  let sum = ref 0 in
  for number = 1 to turns do
    Mutex.lock lock;
    while !turn <> id do
      Condition.wait changed lock
    done;
    sum := (!sum + List.length (Sys.opaque_identity (List.init 20 (fun i -> i * number)))) land 0xffff;
    turn := 1 - id;
    Condition.signal changed;
    Mutex.unlock lock
  done;
  ignore (Sys.opaque_identity !sum)

let () =
  let turns = int_of_string Sys.argv.(1) in
  let other = Thread.create (take 1) turns in
  take 0 turns;
  Thread.join other;
  Printf.printf "%d turns\n" turns
