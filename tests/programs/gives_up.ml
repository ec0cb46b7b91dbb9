(* Gives up what servers give up, as GIVES_UP says in order: fork (and the parent ends), close (every
   descriptor from 3), chroot (into JAIL), setuid (65534), nothing. Prints its number before, allocates BLOCKS
   times, and waits for a line of input if it is asked to wait. *)
(* libs: unix *)

let descriptor (n : int) : Unix.file_descr = Obj.magic n

let give_up = function
  | "fork" ->
    let parent = Unix.getpid () in
    if Unix.fork () <> 0 then Unix._exit 0;
    (* While the parent is there, the child is not recorded. *)
    while Unix.getppid () = parent do
      Unix.sleepf 0.001
    done;
    ignore (Unix.setsid ())
  | "close" ->
    for n = 3 to 2000 do
      try Unix.close (descriptor n) with Unix.Unix_error _ -> ()
    done
  | "chroot" ->
    Unix.chroot (Sys.getenv "JAIL");
    Unix.chdir "/"
  | "setuid" ->
    Unix.setgid 65534;
    Unix.setuid 65534
  | "nothing" -> ()
  | "wait" -> ignore (input_line stdin)
  | other -> failwith other

let kept = ref []

let[@inline never] allocate n =
  for i = 1 to n do
    if i mod 1000 = 0 then kept := [];
    kept := Bytes.create 100 :: !kept
  done

let () =
  Printf.printf "%d\n%!" (Unix.getpid ());
  let before, after = List.partition (fun what -> what <> "wait")
    (String.split_on_char ',' (Sys.getenv "GIVES_UP")) in
  List.iter give_up before;
  allocate (int_of_string (Sys.getenv "BLOCKS"));
  List.iter give_up after;
  Printf.printf "done\n%!"
