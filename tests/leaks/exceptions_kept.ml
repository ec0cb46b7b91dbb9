(* Errors are kept to be shown; the twin keeps the last 100.
   run leak 250000: Exceptions_kept.Errors.seen grows, allocated in Exceptions_kept.parse
   run sound 250000: no suspect
   long 2000000 *)
exception Bad_line of int * string
module Errors = struct
  let seen : exn list ref = ref []
  let count = ref 0
  let keep ~leaks e =
    incr count;
    seen := e :: (if leaks then !seen else if !count mod 100 = 0 then [] else !seen)
end
let parse i = if i mod 3 = 0 then raise (Bad_line (i, "line " ^ string_of_int i ^ " is not as it should be")) else i
let () =
  let leaks = Sys.argv.(1) = "leak" and sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    (try sum := !sum + parse i with Bad_line _ as e -> Errors.keep ~leaks e);
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d %d\n" !sum (List.length !Errors.seen)
