(* Blocks of known numbers and sizes that stay alive, from functions of their own and owned by variables of their own, and
   others that do not, as often as the argument says. Prints `function blocks words` of what stays, headers counted in
   the words. *)
(* libs: *)

let keep = Obj.repr
let pairs : Obj.t list ref = ref []
let texts : Obj.t list ref = ref []
let pages : Obj.t list ref = ref []
let tables : Obj.t list ref = ref []
let[@inline never] make_pair i = keep (Sys.opaque_identity (i, i))
let[@inline never] make_text _ = keep (Bytes.create 199)
let[@inline never] make_page i = keep (Array.make 300 i)
let[@inline never] make_table i = keep (Array.make 4000 i)

(* name, function, variable, words of a block without its header, how many stay *)
let sites =
  [
    ("make_pair", make_pair, pairs, 2, 1200);
    ("make_text", make_text, texts, 25, 400);
    ("make_page", make_page, pages, 300, 60);
    ("make_table", make_table, tables, 4000, 8);
  ]

let () =
  List.iter
    (fun (_, make, into, _, count) ->
      for i = 1 to count do
        for _ = 1 to int_of_string Sys.argv.(1) do
          ignore (Sys.opaque_identity (make i))
        done;
        into := make i :: !into
      done)
    sites;
  Gc.full_major ();
  List.iter (fun (name, _, _, words, count) -> Printf.printf "%s %d %d\n" name count (count * (words + 1))) sites
