(* Sound: a compiler's stages: read, then translate, then emit; each builds a structure that the next one reads.
   run 60000: no suspect
   long 700000 *)
type token = Word of string | Number of int
type tree = Call of string * tree list | Const of int
let tokens : token list ref = ref []
let trees : tree list ref = ref []
let code : string list ref = ref []
let read n = for i = 1 to n do tokens := (if i mod 2 = 0 then Word ("w" ^ string_of_int i) else Number i) :: !tokens done
let translate () =
  List.iter (fun token ->
    let tree = match token with Word w -> Call (w, [ Const 1; Const 2; Call ("f", [ Const 3 ]) ]) | Number n -> Const n in
    trees := tree :: !trees; ignore (Sys.opaque_identity (List.init 20 string_of_int))) !tokens
let rec emit = function
  | Const n -> "push " ^ string_of_int n
  | Call (f, trees) -> String.concat ";" (List.map emit trees) ^ ";call " ^ f
let () =
  read (int_of_string Sys.argv.(1)); translate ();
  List.iter (fun tree -> code := emit tree :: !code; ignore (Sys.opaque_identity (List.init 20 string_of_int))) !trees;
  Printf.printf "%d\n" (List.length !code)
