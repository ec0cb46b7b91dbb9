(* What is known of values that structures define, by where they are defined. *)

open Typedtree

(* By the number of the scope that defines a value, and its name; inside the scope by its unique name, too. *)
type 'a t = (int * string, 'a) Hashtbl.t

let create count : 'a t = Hashtbl.create count

let add (known : 'a t) scope id what =
  Hashtbl.replace known (scope.Scope.number, Ident.name id) what;
  Hashtbl.replace known (scope.number, Ident.unique_name id) what

let rec find (known : 'a t) scope (path : Path.t) =
  match path with
  | Pident id -> (
      match (Hashtbl.find_opt known (scope.Scope.number, Ident.unique_name id), scope.up) with
      | Some what, _ -> Some what
      | None, Some up -> find known up path
      | None, None -> None)
  | Pdot (path, name) -> (
      match Evaluate.module_at scope path with
      | Structure inner -> Hashtbl.find_opt known (inner.number, name)
      | _ | (exception _) -> None)
  | _ -> None

(* Calls [each] with the values that an item defines one by one, their types, and what they are. *)
let each_value each item =
  match item.str_desc with
  | Tstr_value (_, bindings) ->
      List.iter
        (fun ({ vb_expr; _ } as binding) ->
          match Bound.of_bindings [ binding ] with
          | [ (id, _, ty) ] -> each id ty vb_expr
          | _ -> ())
        bindings
  | _ -> ()
