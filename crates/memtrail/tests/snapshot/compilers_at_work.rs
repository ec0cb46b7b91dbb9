//! Programs of the distribution, stripped, with snapshots taken while they work.

use std::fmt::Write as _;
use std::fs;

use memtrail_recording::SnapshotOutcome;
use memtrail_test_support::running::{Case, Recorded};
use memtrail_test_support::snapshot::Heap;

use crate::asking::snapshots_of;

const WHILE_WORKING: [&str; 5] =
    ["--snapshot", "every-major,exit", "--at-most", "3", "--rate=1e-4"];

fn check(recorded: &Recorded) {
    let all = snapshots_of(&recorded.recording);
    assert!(all.len() >= 2, "{all:?}");
    for snapshot in &all {
        assert!(matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }), "{snapshot:?}");
        let file = recorded.recording.join(&snapshot.file);
        let heap = Heap::read(&file);
        let size = fs::metadata(&file).expect("it is there").len();
        // Little ones are mostly tables.
        let blocks = heap.blocks.len() as u64;
        assert!(blocks < 500_000 || size <= 4 * blocks, "{size} bytes for {blocks} blocks");
        heap.expect_names();
    }
}

#[test]
fn ocamlopt() {
    let case = Case::command("ocamlopt.opt", &["-c", "-S", "big.ml"]).options(&WHILE_WORKING);
    let mut source = String::new();
    for i in 0..300 {
        writeln!(source, "let f{i} x y = List.fold_left (fun a e -> a + e * {i}) x [y; x + {i}]")
            .expect("a string");
    }
    fs::write(case.folder.path().join("big.ml"), source).expect("written");
    let recorded = case.same();
    check(&recorded);
}

#[test]
fn coqc() {
    let case = Case::command("coqc", &["-q", "theory.v"]).options(&WHILE_WORKING);
    let mut source = String::from("Require Import Arith Lia.\n");
    for i in 0..20 {
        writeln!(
            source,
            "Lemma l{i} : forall a b, a < b -> a + {i} < b + {i} + 1.\nProof. lia. Qed."
        )
        .expect("a string");
    }
    fs::write(case.folder.path().join("theory.v"), source).expect("written");
    let recorded = case.same();
    check(&recorded);
}
