(* A counter for each address. "sound" removes those that were not seen for long, every 5,000 requests.
   run leak 300000: Rate_limiter.Limits.buckets grows, allocated in Rate_limiter.Limits.bucket or Rate_limiter.Limits.address or Rate_limiter.Limits.allow
   run sound 300000: no suspect
   long 1200000 *)
module Limits = struct
  type bucket = { mutable tokens : float; mutable seen : int; address : string }
  let buckets : (string, bucket) Hashtbl.t = Hashtbl.create 16
  let address i = Printf.sprintf "2001:db8::%x:%x" (i / 2) (i land 1)
  let bucket address =
    match Hashtbl.find_opt buckets address with
    | Some bucket -> bucket
    | None -> let bucket = { tokens = 10.; seen = 0; address } in Hashtbl.replace buckets address bucket; bucket
  let allow now i =
    let bucket = bucket (address i) in
    bucket.seen <- now; bucket.tokens <- bucket.tokens -. 1.; bucket.tokens > 0.
  let purge now = Hashtbl.filter_map_inplace (fun _ b -> if now - b.seen > 5_000 then None else Some b) buckets
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let allowed = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    if Limits.allow i i then incr allowed;
    ignore (Sys.opaque_identity (List.init 20 string_of_int));
    if (not leaks) && i mod 5_000 = 0 then Limits.purge i
  done;
  Printf.printf "%d\n" !allowed
