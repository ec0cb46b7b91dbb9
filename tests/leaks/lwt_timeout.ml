(* After ocsigen/lwt#670 (with_timeout: a timer for each call; the timers are cancelled, yet memory rises).
   EXPECTED with Debian's Lwt 5.6.1: no suspect; the engine drops cancelled timers.
   with lwt.unix
   run: no suspect *)
module Rpc = struct
  let sum = ref 0
  let call i = Lwt.bind (Lwt.pause ()) (fun () -> Lwt.return (string_of_int i))
  let rec loop i n = if i >= n then Lwt.return_unit else
    Lwt.bind (Lwt_unix.with_timeout 3600. (fun () -> call i))
      (fun s -> sum := !sum + String.length s; loop (i + 1) n)
end
let () =
  let n = try int_of_string Sys.argv.(1) with _ -> 100_000 in
  if Array.length Sys.argv < 3 then Lwt_engine.set (new Lwt_engine.select);
  Lwt_main.run (Rpc.loop 0 n); Printf.printf "%d\n" !Rpc.sum
