(* Images off the heap: bigarrays that a table keeps; the twin keeps the last 20.
   run leak 3000: Bigarrays.Images.all grows, allocated in Bigarrays.Images.load
   run sound 3000: no suspect
   long 40000 *)
module Images = struct
  let all : (int, (int, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t) Hashtbl.t = Hashtbl.create 64
  let load ~leaks i =
    let image = Bigarray.Array1.create Bigarray.int8_unsigned Bigarray.c_layout 16_384 in
    Bigarray.Array1.fill image (i land 255);
    Hashtbl.replace all (if leaks then i else i mod 20) image
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Images.load ~leaks i;
    for _ = 1 to 20 do ignore (Sys.opaque_identity (List.init 100 string_of_int)) done
  done;
  Printf.printf "%d\n" (Hashtbl.length Images.all)
