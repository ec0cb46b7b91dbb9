//! Programs that Debian ships, stripped, built by others.

use std::fs;

use memtrail_test_support::contents::read;
use memtrail_test_support::running::Case;

/// Something for coqc to prove: it loads the standard library and runs tactics that allocate.
const THEORY: &str = "\
Require Import Arith List Lia.
Import ListNotations.

Fixpoint sum (l : list nat) : nat :=
  match l with [] => 0 | x :: rest => x + sum rest end.

Lemma sum_app : forall a b, sum (a ++ b) = sum a + sum b.
Proof. induction a as [| x a IH]; intros b; simpl; [ reflexivity | rewrite IH; lia ]. Qed.

Lemma sum_rev : forall l, sum (rev l) = sum l.
Proof. induction l as [| x l IH]; simpl; [ reflexivity | rewrite sum_app, IH; simpl; lia ]. Qed.

Lemma bounds : forall a b c d e, a < b -> b < c -> c < d -> d < e -> a + 3 < e.
Proof. intros; lia. Qed.

Compute sum (seq 0 100).
Print Assumptions sum_rev.
";

/// A module with that many functions, each different.
fn generated_module(functions: usize) -> String {
    let mut lines = vec![String::from("type t = Leaf | Node of t * int * t")];
    lines.extend((0..functions).map(|i| {
        format!(
            "let f{i} t x = match t with Leaf -> Node (Leaf, x + {i}, Leaf) \
             | Node (l, y, r) -> if x < y then Node (r, {i}, l) else Node (l, x * {i}, r)"
        )
    }));
    lines.push(String::new());
    lines.join("\n")
}

#[test]
fn coqc() {
    let case = Case::command("coqc", &["theory.v"]);
    fs::write(case.folder.path().join("theory.v"), THEORY).expect("write the theory");
    let recorded = case.same();
    assert!(recorded.seen.status.success(), "{:?}", recorded.seen);
    assert!(read(&recorded.recording).blocks.len() > 1_000);
    assert!(case.folder.path().join("theory.vo").exists(), "coqc made no .vo");
}

#[test]
fn coqc_error() {
    let case = Case::command("coqc", &["broken.v"]);
    fs::write(case.folder.path().join("broken.v"), "Lemma no : 1 = 2.\nProof. reflexivity. Qed.\n")
        .expect("write the theory");
    assert_eq!(case.same().seen.status.code(), Some(1));
}

/// The compiler's own output must be the same to the byte.
#[test]
fn ocamlopt() {
    let case = Case::command("ocamlopt.opt", &["-g", "-c", "big.ml"]);
    let folder = case.folder.path();
    fs::write(folder.join("big.ml"), generated_module(300)).expect("write the module");
    let plain = case.plain();
    assert!(plain.status.success(), "{plain:?}");
    let objects = ["big.cmi", "big.cmx", "big.o"];
    let objects_now = || objects.map(|file| fs::read(folder.join(file)).expect(file));
    let before = objects_now();
    let recorded = case.recorded();
    assert_eq!(plain, recorded.seen);
    assert!(before == objects_now(), "the compiler wrote other files under memtrail");
    let contents = read(&recorded.recording);
    assert!(contents.blocks.len() > 1_000);
    // Stripped by the distribution, and yet: names.
    assert!(contents.inside("Typecore.type_expect").next().is_some());
}

#[test]
fn ocamlopt_error() {
    let case = Case::command("ocamlopt.opt", &["-c", "wrong.ml"]);
    fs::write(case.folder.path().join("wrong.ml"), "let x : int = \"no\"\n").expect("write");
    assert_eq!(case.same().seen.status.code(), Some(2));
}
