(* First-class modules are registered at each reload of a plug-in; the twin replaces the one of that name.
   run leak 60000: Registry_modules.Registry.plugins grows, allocated in Registry_modules.load
   run sound 60000: no suspect
   long 700000 *)
module type Plugin = sig val name : string val table : string array end
module Registry = struct
  let plugins : (string * (module Plugin)) list ref = ref []
  let register ~leaks name plugin =
    if not leaks then plugins := List.remove_assoc name !plugins;
    plugins := (name, plugin) :: !plugins
end
let load ~leaks i =
  let name = "plugin" ^ string_of_int (i mod 5) in
  let module P = struct let name = name let table = Array.init 30 (fun k -> name ^ string_of_int (k * i)) end in
  Registry.register ~leaks name (module P)
let () =
  let leaks = Sys.argv.(1) = "leak" in
  for i = 1 to int_of_string Sys.argv.(2) do
    load ~leaks i;
    ignore (Sys.opaque_identity (List.init 60 string_of_int))
  done;
  Printf.printf "%d\n" (List.length !Registry.plugins)
