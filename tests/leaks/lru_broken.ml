(* A cache of the last 1,000 pages. In "leak" eviction forgets the page's place in the order, and leaves it in the table.
   run leak 100000: Lru_broken.Pages.table grows, allocated in Lru_broken.Pages.render or Lru_broken.Pages.get
   run sound 100000: no suspect
   long 400000 *)
module Pages = struct
  let table : (int, string) Hashtbl.t = Hashtbl.create 64
  let order : int Queue.t = Queue.create ()
  let render i = String.concat "," (List.init 20 (fun k -> string_of_int (i + k)))
  let evict leaks = let oldest = Queue.pop order in if not leaks then Hashtbl.remove table oldest
  let get leaks i =
    match Hashtbl.find_opt table i with
    | Some page -> page
    | None ->
      let page = render i in
      Hashtbl.replace table i page; Queue.push i order;
      if Queue.length order > 1000 then evict leaks;
      page
end
let () =
  let leaks = Sys.argv.(1) = "leak" in
  let sum = ref 0 in
  for i = 1 to int_of_string Sys.argv.(2) do
    sum := !sum + String.length (Pages.get leaks i);
    if i > 10 then sum := !sum + String.length (Pages.get leaks (i - 10))
  done;
  Printf.printf "%d\n" !sum
