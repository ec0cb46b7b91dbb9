(* A stack of 10,000 OCaml frames that allocates all the way down, at the bottom and on the way
   back: callstacks far longer than what a trace packet holds. *)
(* libs: *)

let kept = ref []

let rec descend depth =
  if depth = 0 then begin
    for i = 1 to 20_000 do
      kept := (i, string_of_int i) :: !kept
    done;
    List.length !kept
  end
  else
    let here = ref depth in
    let below = descend (depth - 1) in
    if depth mod 100 = 0 then kept := (depth, String.make 64 'd') :: !kept;
    below + (!here land 1)

let rec bounce n f = if n = 0 then f () else 1 + bounce (n - 1) (fun () -> f ())

let () =
  Printf.printf "descend %d\n" (descend 10_000);
  let total = ref 0 in
  for i = 1 to 200 do
    total := !total + bounce (i * 50 mod 3_000) (fun () -> Array.length (Array.make (1 + (i mod 7)) i))
  done;
  Printf.printf "bounce %d\n" !total;
  Printf.printf "kept %d\n" (List.length !kept)
