(* The second of two versions of a program: two more variables, so that fields have other numbers, lines that moved, and
   fewer handlers. *)
let version = ref "2"
let started = ref 0.
module Events = struct
  let handlers : (int -> int) list ref = ref []
  let count = ref 0
  let subscribe i =
    let page = Bytes.make 200 'p' in
    incr count;
    handlers := (fun k -> k + i + Bytes.length page) :: !handlers
end
module Index = struct
  let table : (int, string) Hashtbl.t = Hashtbl.create 16
  let fill n = for i = 1 to n do Hashtbl.replace table i (string_of_int i) done
end
let () =
  started := 1.;
  Index.fill 30_000;
  for i = 1 to 50_000 do Events.subscribe i done;
  Printf.printf "%d %s\n" (List.length !Events.handlers) !version
