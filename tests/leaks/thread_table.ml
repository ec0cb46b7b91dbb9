(* A table by worker that threads fill; entries of ended requests stay.
   with threads.posix
   run leak 40000: Thread_table.Worker.results grows, allocated in Thread_table.Worker.work
   run sound 40000: no suspect
   long 60000 *)
module Worker = struct
  let lock = Mutex.create ()
  let results : (int, string) Hashtbl.t = Hashtbl.create 64
  let work ~leaks number n =
    for i = 1 to n do
      let result = Printf.sprintf "worker %d, job %d: %s" number i (String.make 100 'r') in
      ignore (Sys.opaque_identity (List.init 60 string_of_int));
      Mutex.lock lock;
      Hashtbl.replace results (if leaks then (number * n) + i else number) result;
      Mutex.unlock lock
    done
end
let () =
  let leaks = Sys.argv.(1) = "leak" and n = int_of_string Sys.argv.(2) in
  let threads = List.init 4 (fun number -> Thread.create (Worker.work ~leaks number) n) in
  List.iter Thread.join threads;
  Printf.printf "%d\n" (Hashtbl.length Worker.results)
