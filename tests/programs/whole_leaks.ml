(* A C stub that leaks, one that frees, and bigarrays that are kept; steadily, to the end. *)

external remember : string -> unit = "whole_remember"
external measure : int -> int = "whole_measure" [@@noalloc]

let kept = ref []

let add_page size =
  let page = Bigarray.Array1.create Bigarray.char Bigarray.c_layout size in
  Bigarray.Array1.fill page 'x';
  kept := page :: !kept

let add_entry i = remember (string_of_int i)

let step i =
  if i mod 10 = 0 then add_page 4096;
  add_entry i;
  ignore (measure 1000)

let () =
  for i = 1 to 20_000 do step i done;
  Printf.printf "%d pages\n" (List.length !kept)
