(* File descriptors: which are open at start (below 48), which numbers new files get, and what
   happens after the program closes every descriptor from 3 up and goes on allocating.
   Argument: `keep` leaves them open. *)
(* libs: unix *)

let number (fd : Unix.file_descr) : int = Obj.magic fd
let descriptor (n : int) : Unix.file_descr = Obj.magic n

let listed () =
  Sys.readdir "/proc/self/fd" |> Array.to_list |> List.filter_map int_of_string_opt
  |> List.filter (fun n -> n < 48 && match Unix.fstat (descriptor n) with _ -> true | exception Unix.Unix_error _ -> false)
  |> List.sort compare

let show l = String.concat " " (List.map string_of_int l)

let () =
  Printf.printf "at start: %s\n" (show (listed ()));
  let kept = ref [] in
  let allocate () =
    for i = 1 to 200_000 do
      if i mod 10 = 0 then kept := [];
      kept := (i, string_of_int i) :: !kept
    done
  in
  allocate ();
  if not (Array.mem "keep" Sys.argv) then begin
    let closed = ref 0 in
    let limit = 70_000 in
    for n = 3 to limit do
      match Unix.close (descriptor n) with () -> if n < 48 then incr closed | exception Unix.Unix_error _ -> ()
    done;
    Printf.printf "closed below 48: %d\n" !closed
  end;
  allocate ();
  let files = List.init 20 (fun _ -> Unix.openfile "/dev/null" [ Unix.O_RDWR ] 0) in
  Printf.printf "opened: %s\n" (show (List.map number files));
  let from, into = Unix.pipe () in
  Printf.printf "pipe: %d %d\n" (number from) (number into);
  allocate ();
  Unix.sleepf 1.2;
  allocate ();
  (* Whoever writes to a number that is ours by now would be seen in the pipe or the files. *)
  Unix.set_nonblock from;
  (match Unix.read from (Bytes.create 100) 0 100 with
  | n -> Printf.printf "foreign bytes in the pipe: %d\n" n
  | exception Unix.Unix_error ((Unix.EAGAIN | Unix.EWOULDBLOCK), _, _) -> print_endline "pipe empty");
  List.iter Unix.close files;
  Printf.printf "at end: %s\n" (show (listed ()))
