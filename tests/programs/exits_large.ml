(* Ends with two million strings in its heap. *)
(* libs: *)

let kept = Array.init 2_000_000 string_of_int

let () =
  Printf.printf "%d\n%!" (Array.length kept);
  exit (if kept.(1_999_999) = "1999999" then 4 else 5)
