(* Its main thread ends, and another one allocates until it is killed. Prints its number when the main
   thread is gone. *)
(* libs: unix threads *)

let kept = ref []

let is_main_gone () =
  let status = open_in (Printf.sprintf "/proc/%d/stat" (Unix.getpid ())) in
  let line = input_line status in
  close_in status;
  let after = String.rindex line ')' in
  line.[after + 2] = 'Z'

let worker () =
  while not (is_main_gone ()) do
    Thread.delay 0.01
  done;
  Printf.printf "alone %d\n%!" (Unix.getpid ());
  for _ = 1 to 6_000 do
    kept := List.init 20_000 string_of_int;
    Thread.delay 0.01
  done

let () =
  ignore (Thread.create worker ());
  Thread.exit ()
