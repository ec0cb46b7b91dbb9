(* What the faults of 5.3's sampler need to show, all at once: strings and arrays
   that C code allocates on fibers, in the minor and the major heap (their callstacks are put on the heap
   late, ocaml/ocaml#14287), in several domains that collect often, with callstacks in every callback
   (#14340), continuations that are promoted (#14337), and domains and threads that end while callbacks
   are due (#14195). *)
(* libs: unix threads *)
(* from: 5.3 *)
(* env: OCAMLRUNPARAM=s=16k *)

open Effect
open Effect.Deep

type _ Effect.t += Pause : unit t

let work seed =
  let kept = Array.make 16 "" in
  let sum = ref 0 in
  for i = 1 to 60 do
    kept.(i land 15) <- String.make (2_500 + ((seed * i) land 511)) 'x';
    let words = Array.init 200 string_of_int in
    sum := !sum + String.length kept.(i land 15) + Array.length words;
    if i mod 10 = 0 then begin
      perform Pause;
      sum := !sum + String.length (Marshal.to_string words [])
    end
  done;
  !sum

let on_fibers seed =
  let rec down n = if n = 0 then work seed else 1 + match_with down (n - 1) plain
  and plain = { retc = Fun.id; exnc = raise; effc = (fun (type a) (_ : a t) -> None) } in
  match_with down 5
    {
      retc = Fun.id;
      exnc = raise;
      effc =
        (fun (type a) (e : a t) ->
          match e with
          | Pause -> Some (fun (k : (a, _) continuation) -> continue k ())
          | _ -> None);
    }

let () =
  let total = ref 0 in
  for round = 1 to 8 do
    let domains = List.init 3 (fun d -> Domain.spawn (fun () -> on_fibers (round + d))) in
    let result = ref 0 in
    let thread = Thread.create (fun () -> result := on_fibers round) () in
    Thread.join thread;
    total := !total + !result + List.fold_left (fun sum d -> sum + Domain.join d) 0 domains
  done;
  Printf.printf "made %d\n" !total
