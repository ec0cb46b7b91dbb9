(* Promises that nothing resolves wait in a table; the twin resolves each.
   with lwt.unix
   run leak 100000: Lwt_never.Calls.pending grows
   run sound 100000: no suspect
   long 700000 *)
module Calls = struct
  let pending : (int, string Lwt.u) Hashtbl.t = Hashtbl.create 64
  let answered = ref 0
  let call i =
    let answer, resolver = Lwt.wait () in
    Hashtbl.replace pending i resolver;
    Lwt.on_success answer (fun text -> answered := !answered + String.length text)
  let answer i = match Hashtbl.find_opt pending i with
    | Some resolver -> Hashtbl.remove pending i; Lwt.wakeup_later resolver ("answer " ^ string_of_int i)
    | None -> ()
end
let rec loop ~leaks i n =
  if i > n then Lwt.return_unit
  else begin
    Calls.call i;
    if not (leaks && i mod 2 = 0) then Calls.answer i;
    ignore (Sys.opaque_identity (List.init 60 string_of_int));
    Lwt.bind (Lwt.pause ()) (fun () -> loop ~leaks (i + 1) n)
  end
let () =
  Lwt_main.run (loop ~leaks:(Sys.argv.(1) = "leak") 1 (int_of_string Sys.argv.(2)));
  Printf.printf "%d %d\n" !Calls.answered (Hashtbl.length Calls.pending)
