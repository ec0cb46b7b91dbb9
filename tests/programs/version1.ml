(* The first of two versions of a program, which are compared: see version2.ml. *)
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
  Index.fill 30_000;
  for i = 1 to 60_000 do Events.subscribe i done;
  Printf.printf "%d\n" (List.length !Events.handlers)
