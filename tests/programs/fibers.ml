(* Effects: deep handlers whose fibers allocate, a generator, continuations captured on one stack
   and resumed on another, a fiber dropped by an exception. *)
(* libs: *)
(* from: 5.0 *)

open Effect
open Effect.Deep

type _ Effect.t += Yield : int -> unit t | Ask : int t

let generator f =
  let next = ref (fun () -> None) in
  (next :=
     fun () ->
       match_with f ()
         {
           retc = (fun () -> next := (fun () -> None); None);
           exnc = raise;
           effc =
             (fun (type a) (e : a Effect.t) ->
               match e with
               | Yield x ->
                   Some
                     (fun (k : (a, _) continuation) ->
                       (next := fun () -> continue k ());
                       Some (x, string_of_int x))
               | _ -> None);
         });
  fun () -> !next ()

let rec tree depth = if depth = 0 then perform (Yield (Random.bits () land 15)) else (tree (depth - 1); tree (depth - 1))

(* Not in tail position, so that the frame of each level stays on its stack. *)
let rec nested n =
  if n = 0 then List.length (List.init 2_000 (fun i -> (i, perform Ask)))
  else
    1
    + match_with nested (n - 1)
        {
          retc = (fun x -> x);
          exnc = raise;
          effc =
            (fun (type a) (e : a Effect.t) ->
              match e with
              | Ask when n = 1 -> Some (fun (k : (a, _) continuation) -> continue k n)
              | _ -> None);
        }

let queue = Queue.create ()

let spawn f =
  match_with f ()
    {
      retc = (fun () -> ());
      exnc = raise;
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Yield _ -> Some (fun (k : (a, _) continuation) -> Queue.push (fun () -> continue k ()) queue)
          | _ -> None);
    }

let () =
  Random.init 42;
  let next = generator (fun () -> tree 12) in
  let rec drain n sum = match next () with None -> (n, sum) | Some (x, s) -> drain (n + 1) (sum + x + String.length s) in
  let n, sum = drain 0 0 in
  Printf.printf "yielded %d sum %d\n" n sum;
  Printf.printf "nested %d\n" (nested 50);
  let done_ = ref 0 in
  for id = 1 to 100 do
    spawn (fun () ->
        let mine = ref [] in
        for i = 1 to 50 do
          mine := Array.make (i + id) i :: !mine;
          perform (Yield i)
        done;
        done_ := !done_ + List.length !mine)
  done;
  while not (Queue.is_empty queue) do
    (Queue.pop queue) ()
  done;
  Printf.printf "fibers %d\n" !done_;
  let dropped = try spawn (fun () -> ignore (List.init 1000 string_of_int); failwith "dropped") ; "no" with Failure m -> m in
  print_endline dropped
