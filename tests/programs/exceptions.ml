(* Exceptions raised through frames that allocate, caught near and far, re-raised, and with
   backtraces recorded. A Stack_overflow is caught too. *)
(* libs: *)
(* env: OCAMLRUNPARAM=l=1M *)

exception Found of int * string

let rec search depth i =
  let noise = List.init (i mod 9) (fun x -> (x, i)) in
  if depth = 0 then raise (Found (i, string_of_int i)) else 1 + search (depth - 1) i + List.length noise

let () =
  Printexc.record_backtrace true;
  let total = ref 0 in
  for i = 1 to 20_000 do
    match search (i mod 60) i with
    | n -> total := !total + n
    | exception Found (n, s) -> total := !total + n + String.length s
  done;
  Printf.printf "total %d\n" !total;
  let reraised = ref 0 in
  for i = 1 to 5_000 do
    try try ignore (search 20 i) with Found _ as e -> ignore (Array.make 20 i); raise e
    with Found _ -> incr reraised
  done;
  Printf.printf "reraised %d\n" !reraised;
  let rec forever n = 1 + forever (n + 1) in
  match forever 0 with
  | n -> Printf.printf "returned %d\n" n
  | exception Stack_overflow -> print_endline "stack overflow caught"
