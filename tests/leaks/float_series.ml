(* A series of measurements that is appended to: float arrays in chunks; the twin keeps twenty chunks.
   run leak 400: Float_series.Series.chunks grows, allocated in Float_series.Series.chunk or Float_series.Series.add
   run sound 400: no suspect
   long 4000 *)
module Series = struct
  let chunks : floatarray Queue.t = Queue.create ()
  let chunk i = Float.Array.init 4096 (fun k -> float (k * i))
  let add ~leaks i =
    Queue.push (chunk i) chunks;
    if (not leaks) && Queue.length chunks > 20 then ignore (Queue.pop chunks)
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Series.add ~leaks i;
    for _ = 1 to 400 do ignore (Sys.opaque_identity (List.init 60 string_of_int)) done
  done;
  Printf.printf "%d\n" (Queue.length Series.chunks)
