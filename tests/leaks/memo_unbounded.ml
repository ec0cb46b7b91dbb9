(* A function's results are kept by argument, and arguments never repeat.
   run leak 400000: Memo_unbounded.Price.known grows, allocated in Memo_unbounded.Price.compute
   run sound 400000: no suspect
   long 800000 *)
module Price = struct
  type t = { item : string; cents : int list }
  let known : (int, t) Hashtbl.t = Hashtbl.create 64
  let compute i = { item = "item " ^ string_of_int i; cents = List.init 5 (fun k -> i * k) }
  let of_item i =
    match Hashtbl.find_opt known i with
    | Some price -> price
    | None -> let price = compute i in Hashtbl.replace known i price; price
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let n = int_of_string Sys.argv.(2) and sum = ref 0 in
  for i = 1 to n do
    let price = Price.of_item (if leaks then i else i mod 2000) in
    sum := !sum + List.length price.cents;
    ignore (Sys.opaque_identity (List.init 60 string_of_int))
  done;
  Printf.printf "%d\n" !sum
