(* A recursion of 9,000 calls that does nothing but call C on its way down, so that no callback of
   the sampler can run before the bottom is reached: every callstack has to be kept until then. *)
(* libs: *)

let rec f n acc =
  if n = 0 then []
  else
    let x = String.make 100 'a' in
    x :: f (n - 1) acc

let () =
  let total = ref 0 in
  for _ = 1 to 5 do
    total := !total + List.length (f 9_000 [])
  done;
  Printf.printf "made %d\n" !total
