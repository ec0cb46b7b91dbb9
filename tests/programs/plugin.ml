(* A plugin for plugin_host.ml: allocates when called, in a function that a report must name. *)
(* libs: *)

let kept = ref []

let[@inline never] allocate_in_plugin n =
  for i = 1 to n do
    kept := (i, Bytes.create 100) :: !kept
  done;
  List.length !kept

let () = Registry.register "plugin" allocate_in_plugin
