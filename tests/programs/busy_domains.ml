(* Domains at work until there is a line of input: WORK says what each does, the first for the main
   domain, separated by commas. Prints its number. *)
(* libs: unix *)
(* from: 5.0 *)

let stop = Atomic.make false
let until_stopped f = while not (Atomic.get stop) do f () done

let allocating () = until_stopped (fun () -> ignore (Sys.opaque_identity (List.init 100 Fun.id)))

let looping () =
  let n = ref 0 in
  while not (Atomic.get stop) do incr n done;
  ignore (Sys.opaque_identity !n)

let briefly () = ignore (Sys.opaque_identity (List.init 1_000 Fun.id))
let spawning () = until_stopped (fun () -> Domain.join (Domain.spawn briefly))
let napping () = until_stopped (fun () -> Unix.sleepf 1e-3)
let waiting () = ignore (input_line stdin); Atomic.set stop true

let work = function
  | "allocating" -> allocating
  | "looping" -> looping
  | "spawning" -> spawning
  | "napping" -> napping
  | "joining" -> Fun.id
  | name -> failwith name

let () =
  let names = String.split_on_char ',' (Sys.getenv "WORK") in
  let others = List.map (fun name -> Domain.spawn (work name)) (List.tl names) in
  let waiter = Domain.spawn waiting in
  Printf.printf "%d\n%!" (Unix.getpid ());
  work (List.hd names) ();
  List.iter Domain.join (waiter :: others);
  print_endline "done"
