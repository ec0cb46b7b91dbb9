(* One thread allocates while another is blocked in a system call for the whole time, and the main
   thread waits for both. *)
(* libs: unix threads *)

let () =
  let from, into = Unix.pipe () in
  let sleeper =
    Thread.create
      (fun () ->
        let b = Bytes.create 16 in
        Unix.read from b 0 16)
      ()
  in
  let sum = ref 0 in
  let worker =
    Thread.create
      (fun () ->
        for i = 1 to 300_000 do
          sum := !sum + List.length (List.init (i mod 5) (fun x -> x))
        done;
        ignore (Unix.write_substring into "done" 0 4))
      ()
  in
  Thread.join worker;
  Thread.join sleeper;
  Printf.printf "sum %d\n" !sum
