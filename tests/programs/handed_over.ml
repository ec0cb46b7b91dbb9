(* Domains allocate lists that others promote: each hangs from an old array, whose remembered part is
   shared out among all domains at a minor collection. What [keep] makes lives to the end, what
   [drop] makes dies at once; both are counted. *)
(* libs: *)
(* from: 5.0 *)

let domains = 3
let rounds = 40
let cells = 400
let slots = 64

(* Old arrays that hold all lists, reachable to the end. *)
let kept = Array.init domains (fun _ -> Array.init rounds (fun _ -> Array.make slots []))

(* A cell and a pair: 3 words each. *)
let[@inline never] rec keep i acc = if i = 0 then acc else keep (i - 1) ((i, i) :: acc)

(* A reference: 2 words. *)
let[@inline never] drop n = ignore (Sys.opaque_identity (ref n))

let work mine =
  for round = 0 to rounds - 1 do
    let old = kept.(mine).(round) in
    (* Domains differ in how much there is to promote from where, so that they get ready at
       different times. *)
    let from = if (round + mine) mod 2 = 0 then 0 else slots / 2 in
    for slot = from to from + slots / 2 - 1 do
      old.(slot) <- keep cells [];
      for i = 1 to 100 do drop i done
    done;
    Gc.minor ()
  done

let () =
  Gc.full_major ();
  let others = List.init (domains - 1) (fun i -> Domain.spawn (fun () -> work (i + 1))) in
  work 0;
  List.iter Domain.join others;
  Gc.full_major ();
  (* Pending callbacks run at allocations. *)
  for i = 1 to 1000 do drop i done;
  let sum = ref 0 in
  Array.iter (Array.iter (Array.iter (fun l -> sum := !sum + List.length l))) kept;
  Printf.printf "%d\n" !sum
