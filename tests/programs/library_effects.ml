(* OCaml 5: a computation is captured below a label, and goes on below another one, or outside. *)
(* from: 5.3 *)

open Effect
open Effect.Deep

type _ Effect.t += Pause : unit Effect.t

let kept = ref []

let[@inline never] work () =
  kept := [];
  for i = 1 to 50_000 do
    kept := (i, i) :: !kept
  done

let[@inline never] before () = work ()
let[@inline never] after () = work ()
let[@inline never] between () = work ()

let paused = ref None

let start () =
  match_with
    (fun () -> Memtrail.with_label "inside" (fun () -> before (); perform Pause; after ()))
    ()
    { retc = Fun.id;
      exnc = raise;
      effc = (fun (type a) (e : a Effect.t) ->
        match e with
        | Pause -> Some (fun (k : (a, unit) continuation) -> paused := Some (fun () -> continue k ()))
        | _ -> None) }

let () =
  start ();
  between ();
  let go_on = Option.get !paused in
  Memtrail.with_label "second" go_on;
  print_endline "done"
