(* Sessions that end after different times; one in six never does in the leak.
   run leak 300000: Sessions_lifetimes.Server.sessions grows, allocated in Sessions_lifetimes.Server.start
   run sound 300000: no suspect
   long 1000000 *)
module Server = struct
  type session = { name : string; cart : int list }
  let sessions : (int, session) Hashtbl.t = Hashtbl.create 64
  let ends : (int, int) Hashtbl.t = Hashtbl.create 64
  let start ~leaks now =
    Hashtbl.replace sessions now { name = Printf.sprintf "visitor-%d" now; cart = List.init 6 Fun.id };
    if not (leaks && now mod 6 = 0) then Hashtbl.add ends (now + 10 + (now * 7919 mod 4000)) now
  let sweep now =
    List.iter (Hashtbl.remove sessions) (Hashtbl.find_all ends now);
    while Hashtbl.mem ends now do Hashtbl.remove ends now done
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for now = 1 to int_of_string Sys.argv.(2) do
    Server.start ~leaks now; Server.sweep now;
    ignore (Sys.opaque_identity (List.init 40 string_of_int))
  done;
  Printf.printf "%d\n" (Hashtbl.length Server.sessions)
