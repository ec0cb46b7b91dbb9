//! The snapshot at the end of a native program: before its exit handlers, and before a signal ends it.

use std::path::Path;

use memtrail_recording::{Recording, SnapshotOutcome, SnapshotReason};
use memtrail_test_support::contents;
use memtrail_test_support::running::Case;
use serde_json::Value;

use super::{compile, json};

const AT_EXIT: [&str; 5] = ["--native", "--rate", "1e-3", "--snapshot", "exit"];

/// Why a recording has no snapshot at its end.
fn why_none_at_exit(recording: &Path) -> String {
    let description = Recording::open(recording).unwrap().description.unwrap();
    let snapshots = description.snapshots.unwrap_or_default();
    let [last] = &snapshots[..] else { panic!("{snapshots:?}") };
    assert_eq!(last.reason, SnapshotReason::Exit);
    let SnapshotOutcome::Failed { reason } = &last.outcome else { panic!("{last:?}") };
    reason.clone()
}

fn retained(recording: &Path) -> Value {
    let (found, code) = json(&["leaks"], recording);
    assert_eq!(code, Some(0), "{found:#}");
    found["suspects"][0]["retained_by"][0].clone()
}

/// Destructors had freed what was looked for.
#[test]
fn what_destructors_free_is_retained_before_the_end() {
    let program = compile("freed_at_exit.cc", &[]);
    let run = Case::command(&program.path, &[]).options(&AT_EXIT).same();
    let retained = retained(&run.recording);
    assert_eq!(retained["name"], "variable sessions (freed_at_exit.cc:8)", "{retained:#}");
    assert!(retained["share"].as_f64().unwrap() > 0.95, "{retained:#}");
}

/// It had no snapshot, and so nothing that retains was named.
#[test]
fn a_signal_ends_the_program_after_the_snapshot() {
    let program = compile("ended_by_signal.c", &[]);
    // Small: the search has 0.7 s, on a loaded machine, too.
    let run = Case::command(&program.path, &["5000"]).options(&AT_EXIT).same();
    let retained = retained(&run.recording);
    assert_eq!(retained["name"], "variable history (ended_by_signal.c:10)", "{retained:#}");
}

/// A server that an operator stops names what it retains without an option; a short program pays nothing.
#[test]
fn without_an_option_there_is_one_if_the_program_ran_long_enough() {
    let program = compile("ended_by_signal.c", &[]);
    let run = |arguments: &[&str]| {
        let options = ["--native", "--rate", "1e-3"];
        let run = Case::command(&program.path, arguments).options(&options).recorded();
        (contents::read(&run.recording).description.snapshots.unwrap_or_default(), run)
    };
    let (snapshots, _) = run(&["20000", "0"]);
    assert_eq!(snapshots.len(), 0, "{snapshots:?}");
    // It has 4 MB resident: a search takes less than a hundredth of this time.
    let (snapshots, run) = run(&["2000", "3"]);
    assert_eq!(snapshots.len(), 1, "{snapshots:?}");
    assert_eq!(retained(&run.recording)["name"], "variable history (ended_by_signal.c:10)");
}

/// The note said to call `memtrail snapshot PID`, which was refused: "was started without --snapshot request".
#[test]
fn the_note_on_a_killed_program_names_a_snapshot_that_can_be_taken() {
    let why = |snapshot: &str, signal: &str| {
        let script = format!("kill -{signal} $$");
        let options = ["--native", "--rate", "1e-3", "--snapshot", snapshot];
        let run = Case::command("/bin/bash", &["-c", &script]).options(&options).recorded();
        why_none_at_exit(&run.recording)
    };
    for signal in ["KILL", "USR2", "ABRT"] {
        let reason = why("exit", signal);
        assert!(reason.contains("killed the program"), "{reason}");
        let hint = "run it with `--snapshot exit,request` and call `memtrail snapshot PID`";
        assert!(reason.ends_with(hint), "{reason}");
    }
    let reason = why("exit,request", "KILL");
    assert!(reason.ends_with("; `memtrail snapshot PID` takes one before"), "{reason}");
}

/// It was said to have ended by a system call, of which nothing was known.
#[test]
fn an_end_that_the_agent_does_not_see_has_no_single_reason() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("quick.c");
    let text = "#include <stdlib.h>\nint main(void) { for (int i = 0; i < 1000; i++) free(malloc(10000)); quick_exit(3); }\n";
    std::fs::write(&source, text).unwrap();
    let program = compile(source.to_str().unwrap(), &[]);
    let run = Case::command(&program.path, &[]).options(&AT_EXIT).same();
    assert_eq!(run.seen.status.code(), Some(3));
    let reason = why_none_at_exit(&run.recording);
    assert!(reason.starts_with("the program ended without the agent being told: "), "{reason}");
    for possible in ["by a system call", "by quick_exit", "a seccomp filter"] {
        assert!(reason.contains(possible), "{reason}");
    }
}
