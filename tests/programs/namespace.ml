(* Moves to a user namespace of its own, allocates, and ends by the system call alone. *)
(* libs: *)

external moves : unit -> int = "moves"
external ends_alone : int -> unit = "ends_alone"

let kept = ref []

let[@inline never] after () =
  for i = 1 to 300_000 do
    kept := (i, string_of_int i) :: List.filteri (fun i _ -> i < 10) !kept
  done

let () =
  Printf.printf "moves: %d\n%!" (moves ());
  after ();
  ends_alone 3
