(* Subscribers by topic. Everybody unsubscribes; in "leak" the topic stays, with an empty list and its settings.
   run leak 150000: Topics.Bus.topics grows, allocated in Topics.Bus.settings or Topics.Bus.subscribe or Topics.Bus
   run sound 150000: no suspect
   long 600000 *)
module Bus = struct
  module Names = Map.Make (String)
  type topic = { subscribers : int list; settings : string array }
  let topics = ref Names.empty
  let settings i = Array.init 6 (fun k -> "option " ^ string_of_int (i + k))
  let subscribe name i =
    let topic = match Names.find_opt name !topics with Some t -> t | None -> { subscribers = []; settings = settings i } in
    topics := Names.add name { topic with subscribers = i :: topic.subscribers } !topics
  let unsubscribe leaks name i =
    match Names.find_opt name !topics with
    | None -> ()
    | Some topic ->
      let subscribers = List.filter (fun other -> other <> i) topic.subscribers in
      topics := if subscribers = [] && not leaks then Names.remove name !topics else Names.add name { topic with subscribers } !topics
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    let name = "room/" ^ string_of_int i in
    Bus.subscribe name i; Bus.unsubscribe leaks name i
  done;
  Printf.printf "%d\n" (Bus.Names.cardinal !Bus.topics)
