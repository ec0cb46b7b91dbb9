(* Uses up its stack again and again, and goes on: in OCaml code, in code that C called back, and with
   C code that allocates at every depth. What is left when the end is near is the program's to use.
   Arguments: how, how often. *)
(* libs: *)

external call_back : (int -> int) -> int -> int = "overflows_call_back"
external allocate : int -> string = "overflows_allocate"

let elements = lazy (List.init 3_000_000 (fun i -> i))

let rec map f = function
  | [] -> []
  | x :: rest ->
      let y = f x in
      y :: map f rest

(* Several blocks at every depth, on the way down. *)
let rec grow n =
  let pair = (n, string_of_int n) in
  let below = if n = 0 then 0 else grow (n - 1) in
  below + String.length (snd pair)

(* C code allocates at every depth. *)
let rec from_c n =
  let text = allocate (n land 63) in
  let below = if n = 0 then 0 else from_c (n - 1) in
  below + String.length text

let overflow = function
  | "map" -> List.length (map (fun i -> i + 1) (Lazy.force elements))
  | "grow" -> grow 100_000_000
  | "from-c" -> from_c 100_000_000
  | "call-back" -> call_back grow 100_000_000
  | how -> failwith how

let () =
  let how = Sys.argv.(1) and times = int_of_string Sys.argv.(2) in
  if how = "map" then ignore (Lazy.force elements);
  if times = 0 then ignore (Sys.opaque_identity (overflow how));
  let caught = ref 0 in
  for _ = 1 to times do
    match overflow how with
    | _ -> print_endline "no overflow"
    | exception Stack_overflow -> incr caught
  done;
  Printf.printf "%d of %d\n" !caught times
