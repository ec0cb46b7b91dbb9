(* Connections that a finaliser puts back into a pool. Argument: how many. *)

type connection = { number : int; buffer : Bytes.t }

let pool : connection list ref = ref []
let release connection = pool := connection :: !pool

let connect number =
  let connection = { number; buffer = Bytes.create 1000 } in
  Gc.finalise release connection;
  connection

let use connection = String.length (Printf.sprintf "%d %d" connection.number (Bytes.length connection.buffer))

let () =
  let total = ref 0 in
  for number = 1 to int_of_string Sys.argv.(1) do
    let connection = connect number in
    for _ = 1 to 50 do total := !total + use connection done
  done;
  print_endline (string_of_int !total)
