(* A vector that doubles when it is full and is never emptied; the twin is emptied at 20,000 elements.
   run leak 500000: Vector_doubles.Trace.events grows, allocated in Vector_doubles.Trace.event
   run sound 500000: no suspect
   long 2000000 *)
module Vector = struct
  type 'a t = { mutable data : 'a array; mutable length : int; nothing : 'a }
  let make nothing = { data = [||]; length = 0; nothing }
  let push v x =
    if v.length = Array.length v.data then begin
      let data = Array.make (max 16 (2 * v.length)) v.nothing in
      Array.blit v.data 0 data 0 v.length; v.data <- data end;
    v.data.(v.length) <- x; v.length <- v.length + 1
  let clear v = v.data <- [||]; v.length <- 0
end
module Trace = struct
  type event = { at : float; name : string }
  let events : event Vector.t = Vector.make { at = 0.; name = "" }
  let event i = Vector.push events { at = float i; name = "event" ^ string_of_int (i mod 50) }
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Trace.event i;
    if (not leaks) && Trace.events.length >= 20_000 then Vector.clear Trace.events;
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" Trace.events.length
