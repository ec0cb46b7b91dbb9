//! The snapshot at the end of a native program: before its exit handlers, and before a signal ends it.

use std::path::Path;

use memtrail_test_support::contents;
use memtrail_test_support::running::Case;
use serde_json::Value;

use super::{compile, json};

const AT_EXIT: [&str; 5] = ["--native", "--rate", "1e-3", "--snapshot", "exit"];

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
