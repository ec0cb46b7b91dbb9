(* A theory that makes coqc work for some seconds: accounts in a ledger, with linear arithmetic, a
   decision by computation, and proof terms that are large. *)

Require Import ZArith List Lia Bool.
Import ListNotations.
Open Scope Z_scope.

Record account := { name : nat; balance : Z }.

Definition total (ledger : list account) : Z :=
  fold_right (fun a sum => balance a + sum) 0 ledger.

Fixpoint pay (who : nat) (sum : Z) (ledger : list account) : list account :=
  match ledger with
  | [] => []
  | a :: rest =>
      if Nat.eqb (name a) who
      then {| name := name a; balance := balance a + sum |} :: rest
      else a :: pay who sum rest
  end.

Lemma total_app : forall l m, total (l ++ m) = total l + total m.
Proof. induction l as [|a l IH]; intros m; simpl; [reflexivity|rewrite IH; lia]. Qed.

Lemma pay_known : forall who sum l,
  existsb (fun a => Nat.eqb (name a) who) l = true -> total (pay who sum l) = total l + sum.
Proof.
  induction l as [|a l IH]; simpl; intros H; [discriminate|].
  destruct (Nat.eqb (name a) who); simpl in *; [lia|rewrite IH by exact H; lia].
Qed.

(* Many variables and hypotheses: lia searches, and leaves a certificate. *)
Lemma balanced : forall a b c d e f g h : Z,
  a + b = c + d -> c + e = f + g -> 2 * a + 3 * b <= h -> f + h = 3 * e + d -> g = 2 * a + 1 ->
  0 <= a <= 100 -> 0 <= b <= 100 -> 0 <= c <= 100 -> 0 <= d <= 100 ->
  a + b + c + e + g = d + f + g + g + c + c - e + e - g + (a + b - d - c) + (e + a + b - f - d) - (c + e - f - g) - (a + b - c - d) + (a + c) - a - c + d - (d - c) + d - c - (d - c) + g - c + (c - g) + (a + b) - (c + d) + (c + e) - c - c - (e - c) + a + b - d - d + d - (a + b) + a + b + c - c - (a + b) + d + e + c - d - f - g + f + g - f + c - e - c + e + d - d
  \/ a + b + e >= e.
Proof. intros; right; lia. Qed.

Definition many (n : nat) : list account :=
  map (fun i => {| name := i; balance := Z.of_nat i |}) (seq 0 n).

(* Unfolded in the kernel's terms: large goals. *)
Lemma sums_up : total (many 1200) = 719400.
Proof. cbv. reflexivity. Qed.

Lemma pays : total (pay 700 5 (many 900)) = total (many 900) + 5.
Proof. rewrite pay_known; [reflexivity|vm_compute; reflexivity]. Qed.

(* The same goal again and again: every step leaves a term. *)
Lemma steps : forall x y z : Z, 0 <= x -> x <= y -> y <= z -> z <= x + 10 ->
  exists u v, u = x + y + z /\ v <= 3 * z /\ u <= v /\ 3 * x <= u.
Proof.
  intros x y z; intros.
  do 300 (assert (x + y <= 2 * z) by lia; assert (3 * x <= x + y + z) by lia).
  exists (x + y + z), (3 * z); repeat split; lia.
Qed.
