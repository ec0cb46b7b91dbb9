//! Snapshots, and what analyses leave beside them, are within the limit.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use memtrail_recording::Recording;
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::recordings_in;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

use super::watch::bytes_in;

const LIMIT: u64 = 8 << 20;

/// Nothing was told of a limit for which the disk has no room.
#[test]
fn a_limit_beyond_the_disk_is_noted() {
    let ocaml = Case::new(&build(&named("system"), "table_grows"), &["10"]);
    for (case, more) in
        [(ocaml, &[][..]), (Case::command(Path::new("/bin/true"), &[]), &["--native"])]
    {
        let case = case.options(&[&["--disk", "900TiB"], more].concat());
        let recorded = case.recorded();
        let notes = Recording::open(&recorded.recording).unwrap().description.unwrap().notes;
        let is_there = notes.iter().any(|note| note.ends_with("of the 900 TiB of --disk"));
        assert!(is_there, "{notes:?}");
    }
}

/// A snapshot at each major collection of a heap that grows took 27 MB of 20, and the analysis left twice as much beside them.
#[test]
fn snapshots_of_a_heap_that_grows_and_their_indexes_fit() {
    let program = build(&named("system"), "table_grows");
    let options = ["--disk", "8MiB", "--snapshot", "every-major"];
    let (mut child, recording) =
        Case::new(&program, &["250000"]).options(&options).start_recorded();
    while child.try_wait().expect("a child").is_none() {
        let bytes = bytes_in(&recording);
        assert!(bytes <= LIMIT, "{bytes} bytes while it runs");
        thread::sleep(Duration::from_millis(20));
    }
    let taken = Recording::open(&recording).unwrap().description.unwrap().snapshots.unwrap();
    assert!(taken.len() >= 2, "{taken:?}");
    for command in [&["leaks"][..], &["heap", "roots"], &["check", "--no-leak", "--recording"]] {
        let mut analysis = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let output = analysis.args(command).arg(&recording).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 4)), "{output:?}");
        let bytes = bytes_in(&recording);
        assert!(bytes <= LIMIT, "{bytes} bytes after {command:?}");
    }
}

/// Each process kept to the limit alone: six of them took three times as much.
#[test]
fn snapshots_of_a_family_fit_together() {
    let program = build(&named("system"), "table_grows");
    let folder = tempfile::tempdir().expect("a folder");
    let one = format!("{} 60000 > /dev/null", program.path.display());
    let all = format!("for i in 1 2 3 4 5 6; do {one} & done; wait");
    let mut run = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    run.args([
        "run",
        "--children",
        "--disk",
        "8MiB",
        "--snapshot",
        "every-major",
        "-q",
        "--",
        "sh",
        "-c",
    ]);
    let mut child = run.arg(&all).current_dir(folder.path()).spawn().expect("memtrail run");
    let bytes = || recordings_in(folder.path()).iter().map(|one| bytes_in(one)).sum::<u64>();
    while child.try_wait().expect("a child").is_none() {
        assert!(bytes() <= LIMIT, "{} bytes while they run", bytes());
        thread::sleep(Duration::from_millis(10));
    }
    let family = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let output =
        Command::new(env!("CARGO_BIN_EXE_memtrail")).arg("leaks").arg(family).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(bytes() <= LIMIT, "{} bytes after it", bytes());
    assert!(recordings_in(folder.path()).len() >= 6);
}
