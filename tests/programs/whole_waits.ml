(* Memory from malloc to which a value of OCaml refers, and nothing; then waits for a line. *)
(* libs: unix *)

type handle

external new_handle : unit -> handle = "references_new_handle"
external lose : unit -> unit = "references_lose"

let handles = ref []

let rec deep n = if n = 0 then 0 else 1 + deep (n - 1)

(* Allocates meanwhile: there it can be stopped for a snapshot. *)
let rec wait () =
  match Unix.select [ Unix.stdin ] [] [] 0.02 with
  | [], _, _ ->
    ignore (Sys.opaque_identity (Array.make 300 0));
    wait ()
  | _ -> ()
  | exception Unix.Unix_error (Unix.EINTR, _, _) -> wait ()

let () =
  for _ = 1 to 30 do handles := new_handle () :: !handles done;
  for _ = 1 to 100 do lose () done;
  Gc.full_major ();
  Printf.printf "%d\n%!" (Unix.getpid () + (0 * deep 100_000));
  wait ();
  print_endline (string_of_int (List.length !handles))
