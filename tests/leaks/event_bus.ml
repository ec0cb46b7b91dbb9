(* A bus that is local to the main function. One session in four is never taken off it, and the others are soon.
   run leak 24000: Event_bus. grows, allocated in Event_bus.session
   run sound 24000: no suspect
   long 60000 *)
module Bus = struct
  type t = { mutable handlers : (int * (int -> unit)) list; mutable next : int }
  let create () = { handlers = []; next = 0 }
  let on bus f = bus.next <- bus.next + 1; bus.handlers <- (bus.next, f) :: bus.handlers; bus.next
  let off bus id = bus.handlers <- List.filter (fun (i, _) -> i <> id) bus.handlers
  let emit bus x = List.iteri (fun i (_, f) -> if i < 10 then f x) bus.handlers
end
let session ~leaks bus n =
  let frame = Array.make 300 n in
  let id = Bus.on bus (fun x -> frame.(x land 255) <- x) in
  Bus.emit bus n;
  if not (leaks && n mod 4 = 0) then Bus.off bus id
let main ~leaks n =
  let bus = Bus.create () and sum = ref 0 in
  for i = 1 to n do
    session ~leaks bus i;
    sum := !sum + List.length (Sys.opaque_identity (List.init 200 string_of_int))
  done;
  Bus.emit bus 3;
  Printf.printf "%d %d\n" !sum (List.length bus.Bus.handlers)
let () = main ~leaks:(Sys.argv.(1) = "leak") (int_of_string Sys.argv.(2))
