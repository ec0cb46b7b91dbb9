(* A memoised stream whose head is kept: all that was read of it stays. The twin lets go of the head.
   run leak 400000: Lazy_stream.Feed.first grows, allocated in Lazy_stream.Feed.from
   run sound 400000: no suspect
   long 2000000 *)
module Feed = struct
  type t = Item of string * t Lazy.t
  let rec from i = Item (Printf.sprintf "entry %d of the feed" i, lazy (from (i + 1)))
  let first = ref (from 0)
end
let rec read ~leaks (Feed.Item (text, rest)) n sum =
  ignore (Sys.opaque_identity (List.init 40 string_of_int));
  let sum = sum + String.length text in
  if n = 0 then sum
  else begin
    let next = Lazy.force rest in
    if not leaks then Feed.first := next;
    read ~leaks next (n - 1) sum
  end
let () = Printf.printf "%d\n" (read ~leaks:(Sys.argv.(1) = "leak") !Feed.first (int_of_string Sys.argv.(2)) 0)
