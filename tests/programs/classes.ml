(* Objects of all sorts of classes: alone, inheriting, without methods of their own, of functors, local and immediate.
   There is another number of each. *)

class counter = object
  val mutable n = 0
  method incr = n <- n + 1
  method get = n
end

class named (name : string) = object
  inherit counter
  val label = name ^ "!"
  method name = label
end

class silent = object
  inherit counter
end

class virtual shape = object (self)
  method virtual area : float
  method twice = self#area *. 2.
end

class square side = object
  inherit shape
  method area = side *. side
end

module Make (X : sig val v : int end) = struct
  class item = object
    val mutable extra = X.v
    method extra = extra
    method set x = extra <- x
  end
end

module M1 = Make (struct let v = Sys.opaque_identity 5 end)
module M2 = Make (struct let v = Sys.opaque_identity 5 end)

let immediate k = object
  method k = k
  method next = k + 1
end

let single = object
  val mutable z = 3
  method z = z
  method set v = z <- v
end

let local n =
  let module L = struct
    class inner = object
      val mutable s : int = n
      method s = s
      method t v = s <- v
    end
  end in
  new L.inner

let counters = List.init 10 (fun _ -> new counter)
let nameds = Array.init 11 (fun i -> new named (string_of_int i))
let silents = Array.init 12 (fun _ -> new silent)
let squares = Array.init 13 (fun i -> new square (float_of_int i))
let items1 = Array.init 14 (fun _ -> new M1.item)
let items2 = Array.init 15 (fun _ -> new M2.item)
let immediates = Array.init 16 immediate
let locals = Array.init 17 local

let () =
  Gc.full_major ();
  List.iter (fun counter -> counter#incr) counters;
  Array.iter (fun named -> named#incr) nameds;
  Array.iter (fun silent -> silent#incr) silents;
  Array.iter (fun item -> item#set 3) items1;
  Array.iter (fun item -> item#set 3) items2;
  single#set 4;
  Printf.printf "%f %d %d\n" squares.(1)#twice immediates.(1)#next locals.(3)#s
