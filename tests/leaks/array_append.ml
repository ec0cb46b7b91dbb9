(* Samples are appended to an array, a block of 100 at a time. "sound" keeps the last 5,000.
   run leak 1500: Array_append.Series.values grows, allocated in Array_append.Series.add or Array_append.Series.block or Stdlib
   run sound 1500: no suspect
   long 4000 *)
module Series = struct
  let values : string array ref = ref [||]
  let block i = Array.init 100 (fun k -> Printf.sprintf "%d at %d: %s" k i (String.make 60 's'))
  let add i = values := Array.append !values (block i)
  let trim () = let n = Array.length !values in if n > 5_000 then values := Array.sub !values (n - 5_000) 5_000
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do Series.add i; if not leaks then Series.trim () done;
  Printf.printf "%d\n" (Array.length !Series.values)
