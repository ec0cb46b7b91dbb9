# ocamlopt compiles one file in stages: what each keeps goes with it.
# needs ocamlopt.opt
# run file: no suspect
awk 'BEGIN {
    for (i = 0; i < 4000; i++) {
        print "let f" i " x y = match x with"
        print "  | " i " -> (match y with Some z -> z + " i " | None -> List.fold_left (fun a b -> a + b * " i ") 0 [1; x])"
        print "  | n when n > " i " -> if y = None then n else x * " i
        print "  | _ -> String.length (Printf.sprintf \"%d-%d\" x " i ")"
    }
}' > file.ml
$RECORD ocamlopt.opt -c file.ml
