//! Exit codes, signals, uncaught exceptions, `at_exit`: the same end with and without us.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use memtrail_recording::{FileState, SnapshotOutcome};
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::read;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{build, build_with};
use memtrail_test_support::running::Case;

fn ends(compiler: &str, arguments: &[&str]) {
    Case::new(&build(&named(compiler), "ends"), arguments).same();
}

on_each!(returns, |compiler| ends(compiler, &["return"]));
on_each!(exits, |compiler| {
    for code in ["0", "1", "2", "3", "125", "126", "127", "128", "137", "255"] {
        ends(compiler, &["exit", code]);
    }
});
on_each!(exits_at_once, |compiler| {
    ends(compiler, &["_exit", "0"]);
    ends(compiler, &["_exit", "9"]);
});
on_each!(raises, |compiler| ends(compiler, &["raise"]));
on_each!(raises_in_a_thread, |compiler| ends(compiler, &["thread"]));
on_each!(killed, |compiler| {
    for signal in ["1", "2", "3", "6", "8", "9", "10", "12", "13", "14", "15"] {
        ends(compiler, &["kill", signal]);
    }
});
// OCaml 4 has a handler for this one, which looks at where the fault was.
on_each!(segmentation_fault, |compiler| ends(compiler, &["kill", "11"]));
on_each!(stack_overflow, |compiler| {
    let program = build(&named(compiler), "ends");
    Case::new(&program, &["overflow"]).variable("OCAMLRUNPARAM", "l=1M").same();
});
on_each!(out_of_memory, |compiler| ends(compiler, &["oom"]));
on_each!(at_exit, |compiler| {
    for mode in ["", "exit", "raise", "again"] {
        Case::new(&build(&named(compiler), "at_exit_order"), &[mode]).same();
    }
});

/// The handler may come while its thread writes a sample, and so holds a lock or is in our allocator.
#[test]
fn a_signal_handler_exits_while_a_sample_is_written() {
    let program =
        build_with(&named("ocaml-4.14.1000"), "handler_exits", &["handler_exits_stubs.c"]);
    let mut interrupted = 0;
    for turn in 0..200 {
        let microseconds = (20_000 + 997 * turn).to_string();
        let recorded = Case::new(&program, &[&microseconds]).options(&["--rate", "1"]).same();
        let description = read(&recorded.recording).description;
        assert_eq!(description.trace.state, FileState::Complete);
        interrupted += u32::from(description.notes.iter().any(|note| note.contains("midst")));
        // It happens in a few of ten runs, and is told.
        if interrupted >= 3 {
            return;
        }
    }
    panic!("only {interrupted} of 200 runs were interrupted where it matters");
}

/// Signals that come while packets are written, and a handler that ends the process by `exit`.
#[test]
fn a_storm_of_signals_while_packets_are_written() {
    for compiler in ["system", "ocaml-5.3.0"] {
        let program = build_with(&named(compiler), "handler_exits", &["handler_exits_stubs.c"]);
        for turn in 0..15 {
            let signals = (100 + 37 * turn).to_string();
            let case = Case::new(&program, &["storm", &signals]).options(&["--rate", "1"]);
            let recorded = case.same();
            assert_eq!(recorded.seen.status.code(), Some(3), "{:?}", recorded.seen);
            // Reads the whole trace: there is no half packet in it.
            let contents = read(&recorded.recording);
            assert_eq!(contents.description.trace.state, FileState::Complete);
            assert!(contents.blocks.len() > 1_000, "{}", contents.blocks.len());
        }
    }
}

/// A copy that hangs, as on a file system that does not answer, is given up.
#[test]
fn a_snapshot_writer_hangs_at_the_end() {
    let program = build(&named("ocaml-4.14.1000"), "exits_large");
    let options = ["--rate", "1e-3", "--snapshot", "exit"];
    let case = Case::new(&program, &[]).options(&options);
    let (mut child, recording) = case.start_recorded();
    let child_of = |pid: u32| -> Option<u32> {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    };
    let copy = loop {
        if let Some(copy) = child_of(child.id()).and_then(child_of) {
            break copy.to_string();
        }
        assert_eq!(child.try_wait().expect("wait"), None, "the copy was not seen");
        thread::sleep(Duration::from_micros(200));
    };
    assert!(Command::new("kill").args(["-STOP", &copy]).status().expect("kill").success());
    assert_eq!(child.wait().expect("wait").code(), Some(4));
    let snapshots = read(&recording).description.snapshots.expect("a list");
    let [snapshot] = snapshots.as_slice() else { panic!("{snapshots:?}") };
    match &snapshot.outcome {
        SnapshotOutcome::Failed { reason } => assert!(reason.contains("hung"), "{reason}"),
        outcome @ SnapshotOutcome::Complete { .. } => panic!("{outcome:?}"),
    }
}
