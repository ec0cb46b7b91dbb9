(* Prints its number, takes address space until four fifths of its limit (ulimit -v) are gone, and
   waits for a line. *)
(* libs: unix *)

let first_number line =
  let words = String.split_on_char ' ' line in
  List.find_map int_of_string_opt words

let lines file =
  let channel = open_in file in
  let rec all lines =
    match input_line channel with
    | line -> all (line :: lines)
    | exception End_of_file -> close_in channel; lines
  in
  all []

let limit =
  let is_it line = String.length line > 17 && String.sub line 0 17 = "Max address space" in
  match List.find_map first_number (List.filter is_it (lines "/proc/self/limits")) with
  | Some bytes -> bytes
  | None -> failwith "no limit"

let used () =
  match List.find_map first_number (lines "/proc/self/statm") with
  | Some pages -> 4096 * pages
  | None -> failwith "no statm"

let () =
  Printf.printf "%d\n%!" (Unix.getpid ());
  let taken = ref [] in
  while used () < limit / 5 * 4 do
    taken := Bigarray.Array1.create Bigarray.char Bigarray.c_layout 0x100_0000 :: !taken
  done;
  ignore (input_line stdin);
  print_endline (if !taken = [] then "nothing" else "done")
