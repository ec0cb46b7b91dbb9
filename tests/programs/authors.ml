(* Three threads, each in a function of its own, allocating small blocks and, through C, large ones:
   whose blocks are whose can be told by the callstack. *)
(* libs: unix threads *)

let kept = ref []

let[@inline never] allocate n =
  for i = 1 to n do
    kept := Sys.opaque_identity (List.init 40 string_of_int) :: !kept;
    ignore (Sys.opaque_identity (Array.make 300 i));
    ignore (Sys.opaque_identity (String.concat "," [ "a"; string_of_int i ]));
    if i mod 50 = 0 then Thread.yield ();
    if i mod 500 = 0 then kept := []
  done

let[@inline never] first () = allocate 4_000; print_string ""
let[@inline never] second () = allocate 4_000; print_string ""
let[@inline never] third () = allocate 4_000; print_string ""

let () =
  first ();
  let threads = [ Thread.create second (); Thread.create third () ] in
  first ();
  List.iter Thread.join threads;
  Printf.printf "done %d\n" (List.length !kept)
