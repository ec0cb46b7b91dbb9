(* Memory from malloc to which values of OCaml refer, C's variables, values that are garbage, and nothing. *)

type handle

external new_handle : unit -> handle = "references_new_handle"
external new_pointer : unit -> int = "references_new_pointer"
external in_table : int -> unit = "references_in_table"
external lose : unit -> unit = "references_lose"

let handles = ref []
let pointers = Array.make 20 0
let dropped = ref []
let pages = ref []

let add_handle () = handles := new_handle () :: !handles
let drop_handle () = dropped := new_handle () :: !dropped

let add_page () =
  pages := Bigarray.Array1.create Bigarray.char Bigarray.c_layout 5000 :: !pages

(* What was on the stack is written over. *)
let rec deep n = if n = 0 then 0 else 1 + deep (n - 1)

let () =
  for _ = 1 to 30 do add_handle () done;
  for i = 0 to 19 do pointers.(i) <- new_pointer () done;
  for i = 0 to 39 do in_table i done;
  for _ = 1 to 25 do drop_handle () done;
  for _ = 1 to 10 do add_page () done;
  for _ = 1 to 100 do lose () done;
  Gc.full_major ();
  dropped := [];
  Printf.printf "%d %d %d\n" (List.length !handles) (List.length !pages) (deep 100_000)
