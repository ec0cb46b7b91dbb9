(* What plugin_host.ml and plugin.ml share. *)

let functions : (string * (int -> int)) list ref = ref []
let register name f = functions := (name, f) :: !functions
