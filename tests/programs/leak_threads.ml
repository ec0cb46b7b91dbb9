(* Threads that wait for what never comes, and ones that end. The argument is which. *)
(* libs: unix threads *)

let steps = 400
let lock = Mutex.create ()
let never = Condition.create ()

let work step = List.fold_left (fun sum text -> sum + String.length text) step (List.init 2_000 string_of_int)

let serve step =
  let buffer = Bytes.make 20_000 (Char.chr (step land 127)) in
  (* The sampler's callbacks run when the thread allocates next. *)
  let sum = work step in
  (match Sys.argv.(1) with
  | "leak" ->
      Mutex.lock lock;
      Condition.wait never lock
  | "end" -> ()
  | other -> failwith other);
  sum + Char.code (Bytes.get buffer step)

let () =
  let sum = ref 0 in
  for step = 1 to steps do
    let thread = Thread.create (fun () -> ignore (Sys.opaque_identity (serve step))) () in
    if Sys.argv.(1) = "end" then Thread.join thread else Thread.yield ();
    sum := !sum + work step
  done;
  Printf.printf "%d\n%!" !sum;
  (* Exiting waits for no thread that waits. *)
  exit 0
