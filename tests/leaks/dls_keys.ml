(* OCaml 5: a key of domain-local storage is made for each request (keys are never freed; ocaml/ocaml, Domain.DLS).
   EXPECTED: the domain's storage array grows: one value a request, made in Request.scope (DLS.new_key / DLS.get from
   Request.handle), owner: domain-local storage.
   needs OCaml 5
   run 40000: domain grows, allocated in Dls_keys.Request
   long 150000 *)
module Request = struct
  let total = ref 0
  let scope () = Domain.DLS.new_key (fun () -> Bytes.make 400 's')
  let handle i = let k = scope () in total := !total + Bytes.length (Domain.DLS.get k) + i land 1
end
let () = let n = try int_of_string Sys.argv.(1) with _ -> 40_000 in
  for i = 1 to n do Request.handle i; ignore (Sys.opaque_identity (List.init 200 string_of_int)) done;
  Printf.printf "%d\n" !Request.total
