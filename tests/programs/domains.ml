(* Four domains at a time, spawned and joined again and again, each allocating, one of them with
   systhreads of its own; values cross from one domain to another. *)
(* libs: unix threads *)
(* from: 5.0 *)

let work seed =
  let table = Hashtbl.create 16 in
  for i = 1 to 20_000 do
    Hashtbl.replace table (i mod 500) (string_of_int (i + seed))
  done;
  Hashtbl.fold (fun _ s n -> n + String.length s) table 0

let with_threads seed =
  let results = Array.make 3 0 in
  let ts = List.init 3 (fun i -> Thread.create (fun () -> results.(i) <- work (seed + i)) ()) in
  List.iter Thread.join ts;
  Array.fold_left ( + ) 0 results

let () =
  let total = ref 0 in
  for round = 1 to 8 do
    let ds =
      List.init 4 (fun i ->
          Domain.spawn (fun () -> if i = 3 then with_threads round else work (round * i)))
    in
    total := !total + work round;
    List.iter (fun d -> total := !total + Domain.join d) ds
  done;
  Printf.printf "total %d\n" !total;
  let shared = Atomic.make [] in
  let push x =
    let rec go () =
      let old = Atomic.get shared in
      if not (Atomic.compare_and_set shared old (x :: old)) then go ()
    in
    go ()
  in
  let ds = List.init 4 (fun id -> Domain.spawn (fun () -> for i = 1 to 5_000 do push (id, i) done)) in
  Gc.full_major ();
  List.iter Domain.join ds;
  Gc.compact ();
  Printf.printf "shared %d\n" (List.length (Atomic.get shared))
