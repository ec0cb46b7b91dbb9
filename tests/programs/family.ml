(* A small family: a child that forks, two that do not, and one that replaces itself by this program. Each
   allocates an amount of its own, so that figures tell whose they are. *)
(* libs: unix *)

let kept = ref []

let[@inline never] allocate n =
  kept := List.init n (fun i -> (i, i)) :: !kept

let wait pid = ignore (Unix.waitpid [] pid)

let child work =
  match Unix.fork () with
  | 0 -> work (); exit 0
  | pid -> wait pid

let () =
  if Array.length Sys.argv > 1 then allocate 400
  else begin
    allocate 2_000;
    child (fun () ->
        allocate 1_000;
        child (fun () -> allocate 500));
    child (fun () -> allocate 300);
    child (fun () ->
        allocate 200;
        Unix.execv Sys.executable_name [| Sys.executable_name; "again" |]);
    allocate 100
  end
