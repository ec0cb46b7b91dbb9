(* Sound: a cache that fills by chance for a third of the work, and is full then.
   run 500000: no suspect
   long 2000000 *)
let cache : (int, string) Hashtbl.t = Hashtbl.create 16
let () =
  let state = Random.State.make [| 7 |] and sum = ref 0 in
  for _ = 1 to int_of_string Sys.argv.(1) do
    let key = Random.State.int state 60_000 in
    let value = match Hashtbl.find_opt cache key with
      | Some value -> value
      | None -> let value = Printf.sprintf "value %d, made once" key in Hashtbl.replace cache key value; value in
    sum := !sum + String.length value;
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" !sum
