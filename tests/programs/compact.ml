(* Gc.compact over a fragmented heap with live samples in it, many times: compaction moves blocks
   that the sampler tracks. *)
(* libs: *)

let () =
  let kept = Array.make 5_000 Bytes.empty in
  let check = ref 0 in
  for round = 1 to 6 do
    Array.iteri (fun i _ -> kept.(i) <- Bytes.make (10 + ((i * round * 37) mod 3_000)) 'c') kept;
    for i = 0 to Array.length kept - 1 do
      if i mod (round + 1) = 0 then kept.(i) <- Bytes.empty
    done;
    Gc.compact ();
    Array.iter (fun b -> check := !check + Bytes.length b) kept
  done;
  Printf.printf "check %d\n" !check
