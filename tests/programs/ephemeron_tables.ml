(* Tables of Ephemeron and Weak, which are no hash tables though they look like them, and one that is. *)

module Key = struct
  type t = string

  let equal = String.equal
  let hash = Hashtbl.hash
end

module By_key = Ephemeron.K1.Make (Key)
module By_pair = Ephemeron.K2.Make (Key) (Key)
module Set = Weak.Make (Key)

let keys = Array.init 200 (Printf.sprintf "key %d")
let by_key : int list By_key.t = By_key.create 16
let by_pair : int list By_pair.t = By_pair.create 16
let set = Set.create 16
let numbered : (int, string Weak.t) Hashtbl.t = Hashtbl.create 16
let named : (string, int list) Hashtbl.t = Hashtbl.create 16

let () =
  Array.iteri
    (fun i key ->
      By_key.add by_key key [ i ];
      By_pair.add by_pair (key, keys.(0)) [ i ];
      Set.add set key;
      let weak = Weak.create 1 in
      Weak.set weak 0 (Some key);
      Hashtbl.add numbered i weak;
      Hashtbl.add named key [ i ])
    keys;
  Printf.printf "%d %d %d %d %d\n" (By_key.length by_key) (By_pair.length by_pair) (Set.count set)
    (Hashtbl.length numbered) (Hashtbl.length named)
