(* Prints its number and fills 8 MiB. Each line "fork" makes it fork a child, which prints its number, fills 16 MiB and
   waits; any other line ends the last of them, and the end of its input all. *)
(* libs: unix *)

let report () = Printf.printf "%d\n%!" (Unix.getpid ())

let[@inline never] fill n =
  List.init n (fun _ -> Array.init 1024 (fun i -> Array.make 127 i))

let[@inline never] branch n =
  List.init n (fun _ -> Array.init 1024 (fun i -> Array.make 127 i))

let own = ref []
let children = ref []

let fork () =
  let from_parent, to_child = Unix.pipe () in
  match Unix.fork () with
  | 0 ->
    report ();
    own := branch 16 :: !own;
    ignore (Unix.read from_parent (Bytes.create 1) 0 1);
    exit 0
  | pid -> children := (pid, to_child) :: !children

let end_last () =
  match !children with
  | [] -> ()
  | (pid, to_child) :: rest ->
    ignore (Unix.write to_child (Bytes.make 1 ' ') 0 1);
    ignore (Unix.waitpid [] pid);
    children := rest

let () =
  report ();
  own := [ fill 8 ];
  (try
     while true do
       match input_line stdin with
       | "fork" -> fork ()
       | _ -> end_last ()
     done
   with End_of_file -> ());
  while !children <> [] do
    end_last ()
  done
