//! `Memtrail.dump`.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use memtrail_recording::{Snapshot, SnapshotOutcome, SnapshotReason};
use memtrail_test_support::contents::Contents;
use memtrail_test_support::on_each;
use memtrail_test_support::snapshot::Heap;

use crate::{case, same};

/// The names of the snapshots in their order; each must be there, for the program's wish.
fn labels(contents: &Contents) -> Vec<String> {
    let all = contents.description.snapshots.as_deref().unwrap_or_default();
    for snapshot in all {
        assert_eq!(snapshot.reason, SnapshotReason::Program, "{snapshot:?}");
        assert!(matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }), "{snapshot:?}");
    }
    all.iter().map(|snapshot| snapshot.label.clone().unwrap_or_default()).collect()
}

fn check(compiler: &str, options: &[&str]) {
    let (recorded, contents) = same(compiler, "library_snapshots", options);
    let expected =
        ["full", "empty", "1", "2", "3", "4", "5", "6", "in a finaliser", "héhé\n\u{fffd}"];
    assert_eq!(labels(&contents), expected);
    let heap = |number: u32| Heap::read(&recorded.recording.join(format!("{number:04}.heap")));
    // Lists of 10, three words a cell, a thousand times, are there once and then are not.
    let table = |number| heap(number).below("global/Library_snapshots").1;
    assert!(table(1) > 1_000 * 10 * 3, "{} words", table(1));
    assert!(table(2) < 1_000, "{} words", table(2));
    let info = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["heap", "info", "--json", "--snapshot", "2"])
        .arg(&recorded.recording)
        .output()
        .expect("memtrail heap info");
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
    assert_eq!((&info["reason"], &info["label"]), (&"program".into(), &"empty".into()));
    chosen_by_label(&recorded.recording);
}

/// A number comes first: the fifth snapshot's label is "3".
fn chosen_by_label(recording: &Path) {
    let number = |chosen: &str| {
        let info = Command::new(env!("CARGO_BIN_EXE_memtrail"))
            .args(["heap", "info", "--json", "--snapshot", chosen])
            .arg(recording)
            .output()
            .expect("memtrail heap info");
        let complaint = String::from_utf8_lossy(&info.stderr).into_owned();
        let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap_or_default();
        (info["number"].as_u64(), complaint)
    };
    assert_eq!(number("in a finaliser").0, Some(9));
    assert_eq!(number("3").0, Some(3));
    let (none, complaint) = number("nowhere");
    assert_eq!(none, None);
    assert!(complaint.contains("no snapshot \"nowhere\""), "{complaint}");
    assert!(complaint.contains("9 (\"in a finaliser\")"), "{complaint}");
    compared_by_label(recording);
}

/// `heap diff` and `growth` choose and print labels as the other commands do.
fn compared_by_label(recording: &Path) {
    let ask = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let output = command.arg("heap").args(words).arg(recording).output().expect("memtrail");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let (said, _) = ask(&["diff", "--from", "empty", "--to", "in a finaliser"]);
    let snapshots = "before: snapshot 2 \"empty\", after: snapshot 9 \"in a finaliser\"";
    assert!(said.contains(snapshots), "{said}");
    let (said, _) = ask(&["diff", "--json", "--from", "full", "--to", "3"]);
    let difference: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(
        difference["snapshots"],
        serde_json::json!([{ "number": 1, "label": "full" }, { "number": 3, "label": "1" }])
    );
    let (_, complaint) = ask(&["diff", "--to", "nowhere"]);
    assert!(complaint.contains("no snapshot \"nowhere\""), "{complaint}");
    assert!(complaint.contains("1 (\"full\")"), "{complaint}");
    let (said, _) = ask(&["growth", "--from", "empty", "--to", "in a finaliser"]);
    assert!(said.contains("in 8 snapshots"), "{said}");
    let labels = "first: snapshot 2 \"empty\", last: snapshot 9 \"in a finaliser\"";
    assert!(said.contains(labels), "{said}");
    let (_, complaint) = ask(&["growth", "--from", "nowhere"]);
    assert!(complaint.contains("no snapshot \"nowhere\""), "{complaint}");
}

on_each!(a_program_takes_snapshots_of_its_own, |compiler| check(compiler, &["--snapshot", "off"]));

on_each!(beside_those_that_the_user_may_ask_for, |compiler| {
    check(compiler, &["--rate", "1e-2", "--snapshot", "request"]);
});

on_each!(the_snapshot_at_exit_is_not_left_out_for_those_before_it, |compiler| {
    let (_, contents) = same(compiler, "library_snapshots", &["--snapshot", "exit"]);
    let all = contents.description.snapshots.unwrap_or_default();
    let whole = |s: &&Snapshot| matches!(s.outcome, SnapshotOutcome::Complete { .. });
    assert_eq!(all.iter().filter(whole).count(), 11, "{all:#?}");
    assert_eq!(all[10].reason, SnapshotReason::Exit);
});

on_each!(a_snapshot_outlives_the_program_that_took_it, |compiler| {
    let recorded = case(compiler, "library_killed").recorded();
    assert_eq!(recorded.seen.status.signal(), Some(9), "{:?}", recorded.seen);
    assert_eq!(labels(&memtrail_test_support::contents::read(&recorded.recording)), ["last words"]);
    let heap = Heap::read(&recorded.recording.join("0001.heap"));
    assert!(heap.below("global/Library_killed").0 >= 100_001);
});

on_each!(threads_take_snapshots_at_the_same_time, |compiler| {
    let (recorded, contents) = same(compiler, "library_threads", &["--snapshot", "request"]);
    let mut labels = labels(&contents);
    let of_first = format!("[{}]", labels[0]);
    labels.sort();
    assert_eq!(labels, ["one", "three", "two"]);
    // The frame of whoever asked has the label for its name.
    let stack = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["heap", "stack", "--snapshot", "1"])
        .arg(&recorded.recording)
        .output()
        .expect("memtrail heap stack");
    let stack = String::from_utf8_lossy(&stack.stdout).into_owned();
    assert!(stack.lines().any(|line| line.ends_with(&format!("  {of_first}"))), "{stack}");
});

#[test]
fn domains_take_snapshots_at_the_same_time() {
    let (recorded, contents) = same("ocaml-5.3.0", "library_domains", &[]);
    let mut labels = labels(&contents);
    labels.sort();
    let expected: Vec<_> = ["main", "one", "three", "two"]
        .iter()
        .flat_map(|name| (1..=5).map(move |i| format!("{name} {i}")))
        .collect();
    assert_eq!(labels, expected, "none is left out when too many are wanted at once");
    // Each is whole, and has the stacks of all domains that ran.
    for number in 1..=expected.len() {
        let heap = Heap::read(&recorded.recording.join(format!("{number:04}.heap")));
        assert!(heap.pause > 0);
        assert!(!heap.roots_at("stack").is_empty());
    }
}
