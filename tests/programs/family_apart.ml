(* A process and two forks. All keep copies of one string, the first fork as many more as its argument says; the second
   keeps arrays of floats, too, which no other has. *)
(* libs: unix *)

let words = ref []
let tables = ref []

let rec copies n = if n = 0 then [] else String.make 100 'x' :: copies (n - 1)
let rec arrays n = if n = 0 then [] else Array.make 50 (float_of_int n) :: arrays (n - 1)

let keep n = words := copies n :: !words

let child work =
  match Unix.fork () with
  | 0 -> work (); exit 0
  | pid -> ignore (Unix.waitpid [] pid)

let () =
  let more = int_of_string Sys.argv.(1) in
  keep 10;
  child (fun () -> keep more);
  child (fun () -> keep 20; tables := arrays 5)
