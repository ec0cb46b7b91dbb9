(* A feed: a page whose list of entries grows in the browser while it is open.

   It leaks. Without a scope, [Down.of_react] gives each process of a client, that is each visit, a
   channel of its own on the server, which stays there when the visitor has gone. *)

[%%shared open Eliom_content.Html]

module Feed = Eliom_registration.App (struct
  let application_name = "feed"
  let global_data_path = None
end)

type%shared entry = { title : string; text : string } [@@deriving json]

let entry_added, add_entry = React.E.create ()
let entries = ref []

let publish number =
  let title = Printf.sprintf "News %d" number in
  let text = Printf.sprintf "Something has happened, for the %dth time." number in
  let entry = { title; text } in
  entries := entry :: List.filteri (fun place _ -> place < 19) !entries;
  add_entry entry

let () =
  let rec each_second number =
    publish number;
    Lwt.bind (Lwt_unix.sleep 1.) (fun () -> each_second (number + 1))
  in
  Lwt.async (fun () -> each_second 1)

let updates () =
  Eliom_react.Down.of_react entry_added

let%shared as_item entry = D.li [D.h3 [D.txt entry.title]; D.p [D.txt entry.text]]

let page () () =
  let list = D.ul (List.map as_item !entries) in
  let updates = updates () in
  ignore
    [%client
      (ignore
         (React.E.map
            (fun entry -> Eliom_content.Html.Manip.appendChild ~%list (as_item entry))
            ~%updates)
        : unit)];
  Lwt.return
    (F.html (F.head (F.title (F.txt "Feed")) []) (F.body [F.h1 [F.txt "Feed"]; list]))

let () =
  let service =
    Eliom_service.create ~path:(Eliom_service.Path [])
      ~meth:(Eliom_service.Get Eliom_parameter.unit) ()
  in
  Feed.register ~service page
