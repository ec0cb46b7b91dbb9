(* Asks for more memory than there is, deep in a recursion whose frames hold arrays: frame n holds one
   of 1000 + n words. With an argument the exception is caught, 100 times. *)

let rec nested n =
  if n = 0 then Bytes.length (Bytes.create Sys.max_string_length)
  else begin
    let held = Array.make (999 + n) n in
    let below = nested (n - 1) in
    below + Array.length (Sys.opaque_identity held)
  end

let () =
  if Array.length Sys.argv > 1 then begin
    let caught = ref 0 in
    for _ = 1 to 100 do
      match nested 3 with
      | _ -> ()
      | exception Out_of_memory -> incr caught
    done;
    Printf.printf "caught %d\n%!" !caught
  end
  else print_int (nested 3)
