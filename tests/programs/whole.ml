(* Memory outside the OCaml heap: bigarrays that are kept, a C stub that leaks, one that frees. *)

external remember : string -> unit = "whole_remember"
external measure : int -> int = "whole_measure" [@@noalloc]
external call_back : (int -> unit) -> int -> unit = "whole_call_back"

let kept = ref []

let add_page size =
  let page = Bigarray.Array1.create Bigarray.char Bigarray.c_layout size in
  Bigarray.Array1.fill page 'x';
  kept := page :: !kept

let drop_page size =
  let page = Bigarray.Array1.create Bigarray.char Bigarray.c_layout size in
  Bigarray.Array1.fill page 'x'

let add_entry i = remember (string_of_int i)
let lists = ref []

let step i =
  if i mod 10 = 0 then (add_page 4096; drop_page 2048);
  add_entry i;
  lists := Array.make 10 i :: !lists;
  if i mod 100 = 0 then lists := [];
  ignore (measure 1000)

let () =
  for i = 1 to 5000 do
    if i mod 2 = 0 then step i else call_back step i
  done;
  (* Blocks that have a chunk, or a block of malloc, of their own in some runtimes. *)
  let large = Array.init 8 (fun i -> Bytes.make 3_000_000 (Char.chr (65 + i))) in
  Gc.full_major ();
  Printf.printf "%d pages, %d large\n" (List.length !kept) (Array.length large)
