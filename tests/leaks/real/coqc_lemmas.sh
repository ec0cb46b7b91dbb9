# Coq keeps the state after each sentence of a file until it has read all: 1,000 lemmas and their proofs.
# needs coqc
# run lemmas: Stm grows
awk 'BEGIN {
    print "Require Import Arith Lia List. Import ListNotations."
    for (i = 0; i < 500; i++) {
        print "Lemma a" i " : forall x y z, x + " i " <= y -> y + 3 <= z -> x + " i " + 2 <= z."
        print "Proof. intros; lia. Qed."
        print "Fixpoint f" i " (n : nat) (l : list nat) : list nat :="
        print "  match n with 0 => l | S m => f" i " m (m :: l) end."
        print "Lemma g" i " : forall n l, length (f" i " n l) = n + length l."
        print "Proof. induction n; simpl; intros; auto. rewrite IHn. simpl. lia. Qed."
    }
}' > lemmas.v
$RECORD coqc -q lemmas.v
