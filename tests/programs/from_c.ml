(* Blocks that C code of the runtime allocates: big and small arrays, bytes, unmarshalled values,
   bigarrays, growing buffers, concatenations. Their callbacks run later than the allocation. *)
(* libs: *)

let kept : Obj.t list ref = ref []
let keep x = kept := Obj.repr x :: !kept

let arrays () =
  for i = 1 to 200 do
    keep (Array.make (10 * i) i);
    keep (Array.make (1 + (i mod 50)) 1.5)
  done

let bytes () =
  for i = 1 to 500 do
    keep (Bytes.create (1 + (i * 17)))
  done

let marshal () =
  let data = Array.init 300 (fun i -> (i, string_of_int i, [ i; i + 1 ])) in
  let text = Marshal.to_string data [] in
  let total = ref 0 in
  for _ = 1 to 30 do
    let copy : (int * string * int list) array = Marshal.from_string text 0 in
    keep copy;
    total := !total + Array.length copy
  done;
  !total

let bigarrays () =
  for i = 1 to 200 do
    let a = Bigarray.Array1.create Bigarray.float64 Bigarray.c_layout (100 * i) in
    Bigarray.Array1.fill a 1.0;
    if i mod 4 = 0 then keep a
  done

let buffer () =
  let b = Buffer.create 1 in
  for i = 1 to 50_000 do
    Buffer.add_string b (string_of_int i)
  done;
  keep (Buffer.contents b);
  Buffer.length b

let concat () =
  let parts = List.init 2_000 string_of_int in
  let s = String.concat "," parts in
  keep s;
  keep (Array.concat [ Array.make 100 0; Array.make 400 1 ]);
  keep (Array.append (Array.make 10 0) (Array.make 700 1));
  String.length s

let () =
  arrays ();
  bytes ();
  Printf.printf "marshal %d\n" (marshal ());
  bigarrays ();
  Printf.printf "buffer %d\n" (buffer ());
  Printf.printf "concat %d\n" (concat ());
  Gc.full_major ();
  Printf.printf "kept %d\n" (List.length !kept)
