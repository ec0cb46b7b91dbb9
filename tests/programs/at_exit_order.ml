(* at_exit functions run in their order, allocate, and may register more; one of them raises when
   asked to (argument `raise`), one calls exit again (argument `again`). *)
(* libs: *)

let say s = print_endline s; ignore (List.init 1_000 string_of_int)

let () =
  let mode = if Array.length Sys.argv > 1 then Sys.argv.(1) else "" in
  at_exit (fun () -> say "first registered, last run");
  at_exit (fun () ->
      say "second";
      if mode = "raise" then failwith "from at_exit";
      if mode = "again" then exit 7);
  at_exit (fun () -> say "third"; at_exit (fun () -> say "late"));
  say "main";
  if mode = "exit" then exit 5
