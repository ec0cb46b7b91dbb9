(* Each call stands on a fiber of its own, 50,000 deep, and allocates there: the running stack is a
   chain of as many fibers, on the way in and out, of which most have no frame at all. *)
(* libs: *)
(* from: 5.0 *)

open Effect.Deep

let kept = ref []

let rec even n =
  if n = 0 then true
  else begin
    if n mod 2 = 0 then kept := [ n ];
    try_with odd (n - 1) { effc = (fun _ -> None) }
  end

and odd n =
  if n = 0 then false
  else begin
    kept := [ n ];
    let below = even (n - 1) in
    if n mod 10_000 = 1 then kept := n :: !kept;
    below
  end

let () = Printf.printf "even %b\n" (even 50_000)
