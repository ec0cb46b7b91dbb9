(* Values of any type with their printers. "sound" takes out what it has printed.
   run leak 100000: Packed_registry.Watch.all grows, allocated in Packed_registry.Watch.point or Packed_registry.Watch.line
   run sound 100000: no suspect
   long 400000 *)
module Watch = struct
  type watched = Watched : { value : 'a; print : 'a -> string } -> watched
  let all : watched list ref = ref []
  let point i = Watched { value = Array.init 12 (fun k -> float_of_int (i + k)); print = fun a -> string_of_float a.(0) }
  let line i = Watched { value = List.init 12 (fun k -> i + k); print = fun l -> String.concat "," (List.map string_of_int l) }
  let add i = all := (if i land 1 = 0 then point i else line i) :: !all
  let print () = match !all with [] -> 0 | Watched { value; print } :: _ -> String.length (print value)
  let forget () = all := (match !all with [] -> [] | _ :: rest -> rest)
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    Watch.add i; sum := !sum + Watch.print ();
    if not leaks then Watch.forget ()
  done;
  Printf.printf "%d\n" !sum
