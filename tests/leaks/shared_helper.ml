(* One function allocates for a pool that is always as large, and for a list that grows. It allocates more for the pool.
   run leak 60000: Shared_helper.log grows, allocated in Shared_helper.make
   run sound 60000: no suspect
   long 3000000 *)
let make n = Bytes.make n 'x'
let pool = Array.make 20000 Bytes.empty
let log = ref []
let refill i = pool.(i mod Array.length pool) <- make 400
let note _ = log := make 400 :: !log

let () =
  let leaks = Sys.argv.(1) = "leak" and n = int_of_string Sys.argv.(2) in
  let every = max 4 (n / 15000) in
  for i = 0 to n - 1 do
    refill i;
    if leaks && i mod every = 0 then note i;
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" (List.length !log)
