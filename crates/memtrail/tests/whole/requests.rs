//! What refers to memory from malloc while a program runs, on request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use memtrail_recording::{Recording, SnapshotOutcome, SnapshotReason};
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build_with;

use crate::references::{paths, unreachable};

/// Runs a program that waits, with these options; `meanwhile` is given its number and its recording.
fn recorded(compiler: &str, options: &[&str], recording: &Path, meanwhile: impl FnOnce(&str)) {
    let program = build_with(&named(compiler), "whole_waits", &["whole_references_stubs.c"]);
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "-q", "--native=also", "--rate", "1"])
        .args(options)
        .arg("-o")
        .arg(recording)
        .arg("--")
        .arg(&program.path)
        .envs(program.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("memtrail starts");
    let mut output = BufReader::new(launcher.stdout.take().expect("piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("its number");
    meanwhile(line.trim());
    launcher.stdin.take().expect("piped").write_all(b"\n").expect("it reads");
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("output");
    assert_eq!(rest, "30\n");
    assert!(launcher.wait().expect("it ends").success());
}

fn ask(pid: &str) {
    let asked = Command::new(env!("CARGO_BIN_EXE_memtrail")).args(["snapshot", pid]).output();
    let asked = asked.expect("memtrail starts");
    assert!(asked.status.success(), "{asked:?}");
}

/// That each snapshot of the heap has references beside it, and the last of them is right.
fn are_whole(recording: &Path, reason: SnapshotReason) {
    let description = Recording::open(recording).unwrap().description.unwrap();
    let snapshots = description.snapshots.unwrap();
    assert_eq!(snapshots.len(), 2, "{snapshots:?}");
    for snapshot in &snapshots {
        assert_eq!(snapshot.reason, reason);
        assert!(matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }), "{snapshot:?}");
        let references = recording.join(&snapshot.file).with_extension("references");
        assert!(references.exists(), "{snapshot:?}");
    }
    let leaked = unreachable(recording);
    let lost = leaked.get("of_nobody").copied().unwrap_or(0);
    assert!((97..=100).contains(&lost) && !leaked.contains_key("of_handle"), "{leaked:?}");
    let of_handle = paths(recording, "of_handle");
    let (count, steps) = &of_handle[0];
    assert!(*count >= 29 && steps.join(" / ").contains("Whole_waits"), "{of_handle:?}");
}

on_each!(on_request, |compiler| {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("it.memtrail");
    recorded(compiler, &["--snapshot", "request"], &recording, |pid| {
        ask(pid);
        ask(pid);
    });
    are_whole(&recording, SnapshotReason::Request);
});
