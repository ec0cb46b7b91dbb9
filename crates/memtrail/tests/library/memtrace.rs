//! A program that was written for memtrace.

use std::fs;
use std::path::Path;

use memtrail_test_support::contents;
use memtrail_test_support::on_each;
use memtrail_test_support::running::Case;

use crate::{build, case};

/// A folder in which `memtrail` is found, as on a user's PATH.
fn path() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_memtrail")).parent().expect("a folder");
    format!("{}:/usr/bin:/bin", folder.display())
}

fn requested(compiler: &str, rate: &str) -> Case {
    case(compiler, "library_memtrace")
        .variable("MEMTRACE", "out.ctf")
        .variable("MEMTRACE_RATE", rate)
        .variable("PATH", &path())
}

on_each!(memtrace_asks_for_a_recording, |compiler| {
    let case = requested(compiler, "1e-3");
    let seen = case.plain();
    assert_eq!((seen.status.code(), seen.stdout().as_str()), (Some(0), "MEMTRACE is \"\"\n"));
    let folder = case.folder.path();
    let recorded = contents::read(&folder.join("out.ctf.memtrail"));
    // The variable has the last word, not the program.
    assert!((recorded.rate - 1e-3).abs() < 1e-9);
    recorded.expect_words("Library_memtrace", 600_000.0);
    // Tools for memtrace find the trace where they look for it.
    let linked = fs::read(folder.join("out.ctf")).expect("a trace");
    assert_eq!(linked, fs::read(folder.join("out.ctf.memtrail/trace.ctf")).expect("the trace"));
    let trace = memtrail_trace::Reader::new(&linked).expect("a trace").info().context.clone();
    assert_eq!(trace.as_deref(), Some("a context"));
    // Once more: a recording of its own, the file is the newer one.
    case.plain();
    let second = fs::canonicalize(folder.join("out.ctf")).expect("a link");
    assert!(second.ends_with("out.ctf-2.memtrail/trace.ctf"), "{}", second.display());
});

on_each!(without_memtrail_the_program_runs_on_and_says_how_to_record_it, |compiler| {
    let case = requested(compiler, "").variable("PATH", "/nowhere");
    fs::write(case.folder.path().join("out.ctf"), "of value").expect("write a file");
    let seen = case.plain();
    assert_eq!((seen.status.code(), seen.stdout().as_str()), (Some(0), "MEMTRACE is \"\"\n"));
    let stderr = seen.stderr();
    assert!(
        stderr.starts_with("memtrail: not recorded: there is no memtrail on the PATH\nhint: memtrail run -o out.ctf.memtrail -- /"),
        "{stderr}"
    );
    assert_eq!(fs::read(case.folder.path().join("out.ctf")).expect("a file"), b"of value");
});

on_each!(a_recorded_program_is_not_recorded_anew, |compiler| {
    let case = requested(compiler, "1e-3");
    let recorded = case.recorded();
    assert_eq!(recorded.seen.stdout(), "MEMTRACE is \"\"\n");
    assert_eq!(recorded.seen.stderr(), "");
    assert!(!case.folder.path().join("out.ctf").exists());
    contents::read(&recorded.recording).expect_words("Library_memtrace", 600_000.0);
});

on_each!(what_is_no_rate_is_refused_as_by_memtrace, |compiler| {
    for rate in ["0", "1.5", "-1", "nan", "inf", "potato", "1e-3x"] {
        let seen = requested(compiler, rate).plain();
        assert_eq!(seen.status.code(), Some(2), "{rate}");
        assert!(seen.stderr().contains("sampling_rate must be between 0 and 1"), "{seen:?}");
    }
});

// The link would take its place.
on_each!(what_is_no_file_stays, |compiler| {
    let seen = requested(compiler, "1e-3").variable("MEMTRACE", "/dev/null").plain();
    assert_eq!((seen.status.code(), seen.stdout().as_str()), (Some(0), "MEMTRACE is \"\"\n"));
    assert!(seen.stderr().starts_with("memtrail: not recorded: MEMTRACE names no file\n"));
    assert!(fs::metadata("/dev/null").is_ok_and(|found| !found.is_file()));
});

// Arguments come through as they are.
on_each!(arguments_are_kept, |compiler| {
    let case = Case::new(&build(compiler, "library_memtrace"), &["--", "-q", "", "a b", "--rate"])
        .variable("MEMTRACE", "out.ctf")
        .variable("PATH", &path());
    let seen = case.plain();
    assert_eq!(seen.stdout(), "--\n-q\n\na b\n--rate\nMEMTRACE is \"\"\n");
});
