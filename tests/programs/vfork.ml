(* Children by vfork, which share its memory until they end or become another program; and work after
   that. Argument: what the children do; "often", and the program tells whether its memory grew. *)
(* libs: *)

external vfork : string -> int = "vfork_and"

external vfork_often : int -> unit = "vfork_often"

let kept = ref []

let[@inline never] keep () =
  for i = 1 to 100_000 do
    kept := (i, string_of_int i) :: !kept
  done

(* Kilobytes. *)
let resident () =
  let file = open_in "/proc/self/status" in
  let rec find () =
    match Scanf.sscanf (input_line file) "VmRSS: %d" Fun.id with
    | kilobytes -> kilobytes
    | exception Scanf.Scan_failure _ -> find ()
  in
  let found = find () in
  close_in file;
  found

let often () =
  vfork_often 10;
  let before = resident () in
  vfork_often 200;
  let grown = resident () - before in
  print_endline (if grown < 4_000 then "as large as before" else Printf.sprintf "%d KB more" grown);
  exit 0

let () =
  if Sys.argv.(1) = "often" then often ();
  for _ = 1 to 3 do
    Printf.printf "child %d\n%!" (vfork Sys.argv.(1))
  done;
  keep ();
  Printf.printf "kept %d\n" (List.length !kept)
