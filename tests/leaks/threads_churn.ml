(* After ocaml/ocaml#11289, #7220, #11406 (what a thread leaves behind when it ends).
   EXPECTED on 4.13: what remains, if anything, is C memory of systhreads; with --native=also the
   site is in the runtime (thread info, signal stack), called for Thread.create in Pool.job.
   with threads.posix
   run: no suspect *)
module Pool = struct
  let total = ref 0
  let job i = let t = Thread.create (fun () -> try if i mod 2 = 0 then failwith "x" else total := !total + i with Failure _ -> incr total) () in Thread.join t
end
let () =
  Printexc.record_backtrace true;
  let n = try int_of_string Sys.argv.(1) with _ -> 8_000 in
  for i = 1 to n do Pool.job i done; Printf.printf "%d\n" !Pool.total
