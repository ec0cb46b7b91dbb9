(* Names a report must show: nested modules, functors, closures, inlined functions, operators,
   local functions, and code of the standard library. One allocation site each. *)
(* libs: *)

let kept : Obj.t list ref = ref []
let keep x = kept := Obj.repr x :: !kept

module Outer = struct
  module Inner = struct
    let[@inline never] deep_in_modules n = Array.make n 0
  end
end

module Make (X : sig val size : int end) = struct
  let[@inline never] in_functor () = Bytes.create X.size
end

module Applied = Make (struct let size = 4_000 end)

let[@inline always] inlined n = Array.make n 1.5
let[@inline never] calls_inlined n = inlined n

let[@inline never] ( +++ ) a b = Sys.opaque_identity (Array.append a b)

let[@inline never] with_closure n = List.iter (fun i -> keep (Array.make (200 + i) 'c')) (List.init n Fun.id)

let[@inline never] with_local n =
  let rec local i = if i > 0 then begin keep (Array.make 300 i); local (i - 1) end in
  local n

let[@inline never] standard_library n = List.map (fun i -> (i, i)) (List.init n Fun.id)

let () =
  for _ = 1 to 100 do
    keep (Outer.Inner.deep_in_modules 500);
    keep (Applied.in_functor ());
    keep (calls_inlined 500);
    keep (Array.make 200 1 +++ Array.make 300 2);
    with_closure 2;
    with_local 2;
    keep (standard_library 1_000)
  done;
  Printf.printf "kept %d\n" (List.length !kept)
