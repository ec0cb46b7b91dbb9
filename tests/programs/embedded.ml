(* The OCaml half of embed.c: a library in a C program that starts the runtime itself. *)
(* libs: *)

let kept = ref []

let[@inline never] grow n =
  for i = 1 to n do
    kept := (i, string_of_int i) :: !kept
  done;
  List.length !kept

let () =
  Callback.register "grow" grow;
  at_exit (fun () -> print_endline "ocaml at_exit"; flush stdout);
  print_endline "ocaml started";
  flush stdout
