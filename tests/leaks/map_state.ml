(* Sessions in an immutable map that is replaced; they are never removed, or after 500 further ones.
   run leak 300000: Map_state.State.current grows, allocated in Map_state.State.login
   run sound 300000: no suspect
   long 2000000 *)
module Ints = Map.Make (Int)
module State = struct
  type session = { user : string; mutable hits : int }
  let current : session Ints.t ref = ref Ints.empty
  let login id =
    let session = { user = Printf.sprintf "user-%d" id; hits = 0 } in
    current := Ints.add id session !current
  let logout id = current := Ints.remove id !current
  let hit id = match Ints.find_opt id !current with Some s -> s.hits <- s.hits + 1 | None -> ()
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    State.login i; State.hit (i - 3);
    if not leaks then State.logout (i - 500);
    ignore (Sys.opaque_identity (List.init 30 string_of_int))
  done;
  Printf.printf "%d\n" (Ints.cardinal !State.current)
