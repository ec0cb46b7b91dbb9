(* Forbids itself system calls, and allocates before and after. With an argument, forbidden calls send it a signal. *)
(* libs: *)

external forbid : bool -> unit = "forbid"

let kept = ref []

let[@inline never] before () =
  for i = 1 to 100_000 do
    kept := (i, string_of_int i) :: !kept
  done

let[@inline never] after () =
  for i = 1 to 3_000_000 do
    kept := (i, string_of_int i) :: List.filteri (fun i _ -> i < 10) !kept
  done

let () =
  (* Compaction makes the mark stack smaller, by mremap, at moments that depend on what is recorded. *)
  Gc.set { (Gc.get ()) with max_overhead = 1_000_000 };
  before ();
  print_endline "before";
  forbid (Array.length Sys.argv > 1);
  after ();
  Printf.printf "after: %d\n" (List.length !kept);
  exit 3
