(* Work below labels: one after the other at the same depth of the stack, nested, left by an exception,
   in a recursion, and changing between two samples that a deep stack has in common. Each piece of work
   allocates 3 * 2 * 50,000 words. *)

let kept = ref []

let[@inline never] work () =
  kept := [];
  for i = 1 to 50_000 do
    kept := (i, i) :: !kept
  done

let rec deep n f = if n = 0 then f () else begin deep (n - 1) f; ignore (Sys.opaque_identity n) end

let () =
  List.iter (fun name -> Memtrail.with_label name work) ["a"; "b"; "c"; "b"];
  (try Memtrail.with_label "outer" (fun () -> Memtrail.with_label "inner" work; raise Exit)
   with Exit -> ());
  work ();
  deep 200 (fun () ->
      for i = 1 to 2 do
        Memtrail.with_label (if i = 1 then "odd" else "even") (fun () -> deep 200 work)
      done);
  let rec nest n = if n = 0 then work () else Memtrail.with_label (string_of_int n) (fun () -> nest (n - 1)) in
  nest 50;
  Memtrail.with_label "" work;
  Memtrail.with_label "Fun.zero\000byte" work;
  Memtrail.with_label "a;b\n\027[31m" work;
  Memtrail.with_label (String.make 1_000 'x') work;
  assert (Memtrail.with_label "result" (fun () -> 41) + 1 = 42);
  (* More than there are numbers for. *)
  for i = 1 to 40_000 do Memtrail.with_label (Printf.sprintf "number %d" i) ignore done;
  Memtrail.with_label "too late" work;
  Memtrail.with_label "a" work;
  print_endline "done"
