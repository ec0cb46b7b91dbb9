(* Objects register with a subject in their initialiser, and are never unregistered in the leak.
   run leak 120000: Observers.subject grows, allocated in Observers.view
   run sound 120000: no suspect
   long 1000000 *)
class subject_ = object
  val mutable observers : (int * (int -> unit)) list = []
  method attach id f = observers <- (id, f) :: observers
  method detach id = observers <- List.filter (fun (other, _) -> other <> id) observers
  method count = List.length observers
end
let subject = new subject_
class view id = object (self)
  val cells = Array.make 20 id
  val mutable drawn = 0
  method draw n = drawn <- drawn + n + cells.(n mod 20)
  method close = subject#detach id
  initializer subject#attach id (fun n -> self#draw n)
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    let view = new view i in
    view#draw i;
    if not leaks then view#close;
    ignore (Sys.opaque_identity (List.init 60 string_of_int))
  done;
  Printf.printf "%d\n" subject#count
