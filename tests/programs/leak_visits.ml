(* An extension of ocsigenserver that notes each visit. It forgets none, unless its configuration has how many to keep:
   <visits keep="50"/>. *)

let visits : (int, string list) Hashtbl.t = Hashtbl.create 16
let count = ref 0
let describe path number = List.init 50 (fun line -> Printf.sprintf "%s, visit %d, line %d" path number line)

let remember request kept =
  incr count;
  Hashtbl.replace visits !count (describe (Ocsigen_request.path_string request) !count);
  Hashtbl.remove visits (!count - kept)

let note _user _hosts _configuration _path _parse_host _parse_site = function
  | Xml.Element ("visits", attributes, _) -> (
      let kept = match List.assoc_opt "keep" attributes with Some kept -> int_of_string kept | None -> max_int in
      let open Ocsigen_extensions in
      function
      | Req_found ({ request_info; _ }, _) | Req_not_found (_, { request_info; _ }) ->
          remember request_info kept;
          Lwt.return (Ext_next `Not_found))
  | Xml.Element (tag, _, _) -> raise (Ocsigen_extensions.Bad_config_tag_for_extension tag)
  | _ -> raise (Ocsigen_extensions.Error_in_config_file "visits")

let () = Ocsigen_extensions.register ~name:"visits" ~fun_site:note ()
