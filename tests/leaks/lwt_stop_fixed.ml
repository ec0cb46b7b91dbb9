(* After ocsigen/lwt#211 (choice against a promise that lives for ever).
   EXPECTED: no suspect. Sound twin of lwt_stop.ml.
   with lwt.unix
   run: no suspect *)
module Server = struct
  let stop, _stopper = Lwt.wait ()
  let stopped = Lwt.map (fun () -> `Stop) stop
  let busy = ref 0
  let handle i =
    let work = Lwt.map (fun () -> `Done (Bytes.make 64 'x')) (Lwt.pause ()) in
    Lwt.bind (Lwt.choose [ work; stopped ]) (function
      | `Done b -> busy := !busy + Bytes.length b + i; Lwt.return_unit
      | `Stop -> exit 0)
  let rec loop i n = if i >= n then Lwt.return_unit
    else Lwt.bind (handle i) (fun () -> loop (i + 1) n)
end
let () =
  let n = try int_of_string Sys.argv.(1) with _ -> 400_000 in
  Lwt_main.run (Server.loop 0 n); Printf.printf "%d\n" !Server.busy
