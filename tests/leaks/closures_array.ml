(* Callbacks in an array of hooks that is appended to at each connection; the twin clears them when it closes.
   run leak 4000: Closures_array.Hooks.on_exit grows
   run sound 4000: no suspect
   long 20000 *)
module Hooks = struct
  let on_exit : (unit -> int) array ref = ref [||]
  let add f = on_exit := Array.append !on_exit [| f |]
  let clear () = on_exit := [||]
end
module Connection = struct
  let open_ i =
    let state = Array.init 400 (fun k -> k * i) in
    Hooks.add (fun () -> Array.length state + i)
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Connection.open_ i;
    if not leaks then Hooks.clear ();
    for _ = 1 to 20 do ignore (Sys.opaque_identity (List.init 60 string_of_int)) done
  done;
  Printf.printf "%d\n" (Array.length !Hooks.on_exit)
