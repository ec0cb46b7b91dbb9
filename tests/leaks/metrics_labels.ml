(* A counter for each label, and labels have the request's number in them; the twin has one a route.
   run leak 300000: Metrics_labels.Metrics.counters grows, allocated in Metrics_labels.Metrics.count or Metrics_labels.serve
   run sound 300000: no suspect
   long 800000 *)
module Metrics = struct
  let counters : (string * (string * string) list, int ref) Hashtbl.t = Hashtbl.create 64
  let count name labels =
    match Hashtbl.find_opt counters (name, labels) with
    | Some counter -> incr counter
    | None -> Hashtbl.replace counters (name, labels) (ref 1)
end
let serve path =
  Metrics.count "requests" [ ("path", path); ("code", "200") ];
  ignore (Sys.opaque_identity (List.init 50 string_of_int))
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    serve ("/items/" ^ string_of_int (if leaks then i else i mod 40))
  done;
  Printf.printf "%d\n" (Hashtbl.length Metrics.counters)
