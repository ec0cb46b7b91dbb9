(* A model is copied every 50 steps, so that one can go back. "sound" keeps the last ten copies.
   run leak 60000: Checkpoints.Model.saved grows, allocated in Checkpoints.Model.save or Stdlib
   run sound 60000: no suspect
   long 200000 *)
module Model = struct
  let cells = Array.make 2_000 0.
  let saved : (int * float array) list ref = ref []
  let step i = cells.(i mod 2_000) <- sin (float_of_int i)
  let save i = saved := (i, Array.copy cells) :: !saved
  let trim () = if List.length !saved > 10 then saved := List.filteri (fun k _ -> k < 10) !saved
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Model.step i;
    ignore (Sys.opaque_identity (List.init 30 float_of_int));
    if i mod 50 = 0 then begin Model.save i; if not leaks then Model.trim () end
  done;
  Printf.printf "%d\n" (List.length !Model.saved)
