(* libs: unix *)
(* A heap worth a snapshot, in a program that a signal ends. The variable ENDED_WHILE has what it does then, and before that
   what it sets for SIGTERM. *)

let table : (int, string) Hashtbl.t = Hashtbl.create 16

let fill () =
  for key = 1 to 40_000 do
    Hashtbl.replace table key (String.make 600 'x')
  done

let behaviour = function
  | Sys.Signal_default -> "default"
  | Sys.Signal_ignore -> "ignored"
  | Sys.Signal_handle _ -> "handled"

let set how =
  let before =
    match how with
    | "default" -> Sys.signal Sys.sigterm Sys.Signal_default
    | "ignore" -> Sys.signal Sys.sigterm Sys.Signal_ignore
    | "handle" -> Sys.signal Sys.sigterm (Sys.Signal_handle (fun _ -> print_endline "handled"; exit 3))
    | other -> failwith other
  in
  Printf.printf "was %s\n%!" (behaviour before)

let rec work sum = work (sum + String.length (String.concat "," (List.init 100 string_of_int)))

let () =
  fill ();
  let while_, settings =
    match String.split_on_char ' ' (Sys.getenv "ENDED_WHILE") with
    | [] -> failwith "ENDED_WHILE"
    | first :: settings -> (first, settings)
  in
  Printf.printf "%d\n%!" (Unix.getpid ());
  List.iter set settings;
  match while_ with
  | "select" -> (
      match Unix.select [] [] [] 30.0 with
      | _ -> print_endline "woken"
      | exception Unix.Unix_error (error, _, _) -> print_endline (Unix.error_message error))
  | "read" -> ignore (input_line stdin)
  | "work" -> Printf.printf "%d\n" (work 0)
  | "child" -> (
      match Unix.fork () with
      | 0 -> Unix.kill (Unix.getpid ()) Sys.sigterm; Unix.sleep 30
      | pid -> (
          match Unix.waitpid [] pid with
          | _, Unix.WSIGNALED signal -> Printf.printf "child: %b\n" (signal = Sys.sigterm)
          | _ -> print_endline "child: otherwise"))
  | other -> failwith other
