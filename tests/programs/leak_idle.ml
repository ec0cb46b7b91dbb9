(* A server that had visitors for a moment, and none since: each left a page, or, with the argument "filled", none did, as
   all pages were read at the start. *)

let pages : (int, string list) Hashtbl.t = Hashtbl.create 16
let[@inline never] render number = List.init 40 (fun line -> Printf.sprintf "page %d, line %d" number line)

let rec wait seconds =
  if seconds > 0. then begin
    let began = Unix.gettimeofday () in
    (try Unix.sleepf seconds with Unix.Unix_error (Unix.EINTR, _, _) -> ());
    wait (seconds -. (Unix.gettimeofday () -. began))
  end

let () =
  let leaks = Sys.argv.(1) = "leak" in
  if not leaks then for page = 1 to 8000 do Hashtbl.replace pages page (render page) done;
  for visitor = 1 to 8 do
    wait 0.1;
    for page = 1 to 1000 do
      let page = (visitor * 1000) + page in
      let text = render page in
      if leaks then Hashtbl.replace pages page text else ignore (Sys.opaque_identity text)
    done
  done;
  wait 14.;
  Printf.printf "%d pages\n" (Hashtbl.length pages)
