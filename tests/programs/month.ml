(* A service that is left on for a month of work: it leaks with one request in thirty from the start, and from a third of the
   month on at a second place. Most of what a request allocates dies at once, and pages are cached for hours. It stops after
   each number of requests that is an argument, says so, and goes on when it has read a line. *)
(* libs: unix *)

module Sessions = struct
  type session = { number : int; history : int array }

  let opened : (int, session) Hashtbl.t = Hashtbl.create 64
  let[@inline never] open_ number = Hashtbl.replace opened number { number; history = Array.make 120 number }
end

module Audit = struct
  type entry = { at : int; fields : float array }

  let log : entry list ref = ref []
  let[@inline never] note at = log := { at; fields = Array.make 90 (float_of_int at) } :: !log
end

module Cache = struct
  let pages = Array.make 400 []
  let[@inline never] render number = List.init 50 (fun line -> (number, line))
  let keep number = pages.(number mod 400) <- render number
end

let[@inline never] answer number = List.fold_left ( + ) 0 (List.rev_map (fun x -> x * number) (List.init 120 succ))

let () =
  let stops = Array.to_list (Array.map int_of_string (Array.sub Sys.argv 1 (Array.length Sys.argv - 1))) in
  let month = List.fold_left max 0 stops in
  let sum = ref 0 in
  for number = 1 to month do
    sum := (!sum + answer number) land 0xffff;
    (* A month is not over in a second: the trace would grow faster than anybody thins it. *)
    if number mod 100 = 0 then Unix.sleepf 1e-3;
    if number mod 4 = 0 then Cache.keep number;
    if number mod 30 = 0 then Sessions.open_ number;
    if number mod 30 = 10 && number > month / 3 then Audit.note number;
    if List.mem number stops then begin
      Printf.printf "%d\n%!" number;
      ignore (input_line stdin)
    end
  done;
  Printf.printf "%d sessions, %d notes, sum %d\n" (Hashtbl.length Sessions.opened) (List.length !Audit.log) !sum
