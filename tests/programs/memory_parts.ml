(* What a process's resident memory is used for: each argument is a program that uses it for one thing. *)

open Bigarray

let megabytes = 48

let bigarray bytes =
  let data = Array1.create char c_layout bytes in
  Array1.fill data 'x';
  data

(* Memory of malloc's in use, in its arenas and in mappings. *)
let bigarrays () =
  let small = List.init (megabytes / 2 * 1024) (fun _ -> bigarray 1000) in
  let large = List.init (megabytes / 2) (fun _ -> bigarray 1_000_000) in
  fun () -> List.length small + List.length large

(* The same, freed; the last one keeps malloc from returning what is below it. *)
let freed () =
  let all = Array.init (megabytes * 1024) (fun _ -> bigarray 1000) in
  let last = all.(Array.length all - 1) in
  Array.fill all 0 (Array.length all) last;
  Gc.full_major ();
  Gc.full_major ();
  fun () -> Array1.dim last

(* Small blocks, of which one in `of_which` stays: the heap does not shrink without compaction. *)
let one_stays of_which ~compact () =
  let all = Array.init (megabytes * 1024 * 1024 / 32) (fun n -> Some (n, n)) in
  let kept = Array.init (Array.length all / of_which) (fun n -> all.(n * of_which)) in
  fun () ->
    let count = Array.length all in
    Array.fill all 0 count None;
    Gc.full_major ();
    Gc.full_major ();
    if compact then Gc.compact ();
    count + Array.length kept

let shrunk = one_stays 100
let half = one_stays 2

(* The same blocks, and all of them stay. *)
let live () =
  let all = Array.init (megabytes * 1024 * 1024 / 32) (fun n -> Some (n, n)) in
  Gc.full_major ();
  fun () -> Array.length all

(* A large block, which is not written to in OCaml 5: address space that is not resident. *)
let untouched () =
  let data = Bytes.create (megabytes * 1024 * 1024) in
  fun () -> Bytes.length data

let () =
  let program =
    match Sys.argv.(1) with
    | "bigarrays" -> bigarrays
    | "freed" -> freed
    | "shrunk" -> shrunk ~compact:false
    | "shrunk-compacted" -> shrunk ~compact:true
    | "half" -> half ~compact:false
    | "half-compacted" -> half ~compact:true
    | "live" -> live
    | "untouched" -> untouched
    | other -> failwith other
  in
  let use = program () in
  Printf.printf "%d\n" (use ())
