(* Durations are pushed to an atomic list. "sound" folds them into a sum when there are 1,000.
   run leak 500000: Atomic_stats.Stats.recent grows, allocated in Atomic_stats.Stats.add or Atomic_stats.Stats.sample
   run sound 500000: no suspect
   long 2000000 *)
module Stats = struct
  type sample = { at : float; took : float; path : string }
  let recent : sample list Atomic.t = Atomic.make []
  let count = Atomic.make 0
  let sample i = { at = float_of_int i; took = float_of_int (i mod 97); path = "/page/" ^ string_of_int (i mod 50) }
  let rec add sample =
    let before = Atomic.get recent in
    if not (Atomic.compare_and_set recent before (sample :: before)) then add sample;
    Atomic.incr count
  let fold () =
    if Atomic.get count < 1_000 then 0.
    else begin
      Atomic.set count 0;
      List.fold_left (fun sum s -> sum +. s.took +. (s.at *. 0.)) 0. (Atomic.exchange recent [])
    end
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let sum = ref 0. in
  for i = 1 to int_of_string Sys.argv.(2) do
    Stats.add (Stats.sample i);
    ignore (Sys.opaque_identity (List.init 10 string_of_int));
    if not leaks then sum := !sum +. Stats.fold ()
  done;
  Printf.printf "%.0f\n" !sum
