(* libs: unix threads *)
(* Its C code keeps the runtime's lock for 20 seconds, while another thread waits for it. *)

external keeps_lock : int -> unit = "keeps_lock"

let kept = Array.init 40_000 (fun _ -> String.make 600 'x')

let () =
  ignore (Thread.create (fun () -> Thread.delay 0.05) ());
  Printf.printf "%d\n%!" (Unix.getpid ());
  keeps_lock 20;
  print_endline (string_of_int (Array.length kept))
