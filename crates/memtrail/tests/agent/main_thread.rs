//! The main thread ends before others: the process ends with the last of the program's own.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use memtrail_test_support::compilers::named;
use memtrail_test_support::contents::read;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{build, build_around};
use memtrail_test_support::running::Case;

const OPTIONS: [&[&str]; 3] =
    [&["--rate", "1e-3"], &["--rate", "1"], &["--rate", "1e-3", "--snapshot", "off"]];

on_each!(thread_exit_on_the_main_thread, |compiler: &str| {
    let program = build(&named(compiler), "main_thread_exits");
    for options in OPTIONS {
        let recorded = Case::new(&program, &[]).options(options).same();
        if named(compiler).version < (5, 0) {
            let allocated = read(&recorded.recording).words("Main_thread_exits.worker").0;
            assert!(allocated > 200_000.0 * 4.0, "{allocated} words after the main thread");
        }
    }
});

on_each!(pthread_exit_from_main, |compiler: &str| {
    let program = build_around(&named(compiler), "pthread_exit.c");
    for options in OPTIONS {
        for arguments in [&[][..], &["0"], &["4"]] {
            let recorded = Case::new(&program, arguments).options(options).same();
            assert!(recorded.seen.stdout().ends_with("c atexit\n"), "{:?}", recorded.seen);
            read(&recorded.recording);
        }
    }
});

on_each!(thread_exit_in_callback, |compiler: &str| {
    let program = build(&named(compiler), "thread_exit_in_callback");
    for options in OPTIONS {
        Case::new(&program, &[]).options(options).same();
    }
});

on_each!(signals_come_after_the_main_thread, |compiler: &str| {
    // From OCaml 5 on only C programs have such an end.
    let case = if named(compiler).version >= (5, 0) {
        Case::new(&build_around(&named(compiler), "pthread_exit.c"), &["600"])
    } else {
        Case::new(&build(&named(compiler), "main_thread_exits"), &["60"])
    };
    let last = if named(compiler).version >= (5, 0) { "last begins" } else { "main ends" };
    let (mut child, recording) = case.start_recorded();
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    assert!(lines.map(|line| line.expect("a line")).any(|line| line == last));
    let status = Command::new("kill").arg(child.id().to_string()).status().expect("kill");
    assert!(status.success());
    assert_eq!(child.wait().expect("wait").signal(), Some(15));
    read(&recording);
});

/// The threads of ours that take snapshots on request have ended too: the program does it.
#[test]
fn a_snapshot_is_asked_for_after_the_main_thread() {
    let program = build(&named("ocaml-4.14.1000"), "main_thread_leaves");
    let case = Case::new(&program, &[]);
    let (mut child, recording) = case.start_recorded();
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    while !line.starts_with("alone") {
        line.clear();
        assert_ne!(output.read_line(&mut line).expect("a line"), 0, "the program has ended");
    }
    let pid = line.trim_start_matches("alone ").trim();
    let mut ask = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let asked = ask.args(["snapshot", pid]).output().expect("memtrail snapshot");
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    assert!(recording.join("0001.heap").exists());
    let _ = Command::new("kill").arg(pid).status();
    assert_eq!(child.wait().expect("wait").signal(), Some(15));
}
