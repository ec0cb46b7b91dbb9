(* OCaml 5: domains that take snapshots, report memory and work below labels at the same time, while
   their neighbours collect. *)
(* from: 5.3 *)

let allocate n =
  let kept = ref [] in
  for i = 1 to n do kept := (i, i) :: !kept done;
  ignore (Sys.opaque_identity !kept)

let worker name () =
  Memtrail.with_label name (fun () ->
      for i = 1 to 5 do
        allocate 20_000;
        Gc.minor ();
        Memtrail.dump (Printf.sprintf "%s %d" name i);
        match Memtrail.External.alloc ~bytes:1_000_000 with
        | Some token -> Memtrail.External.free token
        | None -> ()
      done)

let () =
  let domains = List.map (fun name -> Domain.spawn (worker name)) ["one"; "two"; "three"] in
  worker "main" ();
  List.iter Domain.join domains;
  print_endline "done"
