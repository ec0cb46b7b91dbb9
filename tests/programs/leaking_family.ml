(* A process and its fork: each keeps a page for each of its requests, the fork four times as many, in the same time. *)
(* libs: unix *)

let kept = ref []

let[@inline never] remember n =
  kept := Bytes.make 4000 (Char.chr (n land 127)) :: !kept

let[@inline never] handle n =
  remember n;
  ignore (Sys.opaque_identity (List.init 300 (fun i -> i + n)))

let serve requests = for n = 1 to requests do handle n; if n mod (requests / 20) = 0 then Unix.sleepf 0.02 done

let () =
  match Unix.fork () with
  | 0 -> serve 8_000; exit 0
  | pid -> serve 2_000; ignore (Unix.waitpid [] pid)
