(* Lines are cut out of documents; a record keeps the whole document where a line would do.
   run leak 3000: Parser_substrings.Titles.all grows, allocated in Parser_substrings.Document.read
   run sound 3000: no suspect
   long 40000 *)
module Document = struct
  type t = { text : string; title : string }
  let read i =
    let text = "title " ^ string_of_int i ^ "\n" ^ String.make 8000 'd' in
    { text; title = String.sub text 0 (String.index text '\n') }
end
module Titles = struct
  let all : Document.t list ref = ref []
  let titles : string array = Array.make 500 ""
  let keep ~leaks i (document : Document.t) =
    if leaks then all := document :: !all else titles.(i mod 500) <- document.title
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    Titles.keep ~leaks i (Document.read i);
    for _ = 1 to 20 do ignore (Sys.opaque_identity (List.init 60 string_of_int)) done
  done;
  Printf.printf "%d\n" (List.length !Titles.all)
