(* Each of thirty processes allocates, and forks the next; the last one counts its descriptors. *)
(* libs: unix *)

let kept = ref []

let[@inline never] allocate () =
  for i = 1 to 20_000 do
    kept := (i, string_of_int i) :: !kept
  done

let rec generations left =
  allocate ();
  if left = 0 then begin
    let count = Array.length (Sys.readdir "/proc/self/fd") in
    print_endline (if count < 16 then "few descriptors" else "many descriptors");
    exit 3
  end
  else
    match Unix.fork () with
    | 0 -> generations (left - 1)
    | child -> (
        match Unix.waitpid [] child with
        | _, Unix.WEXITED code -> exit code
        | _ -> exit 1)

let () = generations 29
