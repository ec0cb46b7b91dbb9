//! Snapshots that nobody asks for: while the program works, and before a signal ends it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use memtrail_recording::{Outcome, Recording, Snapshot, SnapshotOutcome, SnapshotReason};
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{build, build_with};
use memtrail_test_support::running::Case;
use memtrail_test_support::snapshot::Heap;

use crate::asking::{Running, snapshots_of};

/// Snapshots that were written, for a reason.
fn complete(all: &[Snapshot], reason: SnapshotReason) -> Vec<&Snapshot> {
    let is_complete = |s: &&Snapshot| matches!(s.outcome, SnapshotOutcome::Complete { .. });
    all.iter().filter(is_complete).filter(|snapshot| snapshot.reason == reason).collect()
}

// Without an option, `leaks` had no snapshot to judge by.
on_each!(a_program_that_works_has_some_without_an_option, |compiler| {
    let program = build(&named(compiler), "grows_at_work");
    let recorded = Case::new(&program, &["7"]).recorded();
    let all = snapshots_of(&recorded.recording);
    let auto = complete(&all, SnapshotReason::Auto);
    assert!((1..=24).contains(&auto.len()), "{all:#?}");
    assert_eq!(complete(&all, SnapshotReason::Exit).len(), 1, "{all:#?}");
    for snapshot in all.iter().filter(|snapshot| snapshot.reason == SnapshotReason::Auto) {
        Heap::read(&recorded.recording.join(&snapshot.file));
    }
    let mut leaks = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = leaks.args(["leaks", "--json"]).arg(&recorded.recording).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let owner = found["suspects"][0]["owner"].as_str().unwrap_or_default();
    assert!(owner.starts_with("Grows_at_work"), "{found:#}");
});

on_each!(a_short_program_with_a_small_heap_has_none, |compiler| {
    let program = build(&named(compiler), "grows_at_work");
    let recorded = Case::new(&program, &["0.5"]).recorded();
    assert_eq!(snapshots_of(&recorded.recording), []);
});

/// Starts the program of this name, sends it a signal, and gives its snapshots and what it printed.
fn ended_by(
    compiler: &str,
    doing: &str,
    signal: &str,
    options: &[&str],
) -> (Vec<Snapshot>, String) {
    let program = build(&named(compiler), "ended_by_signal");
    let running = Running::start_after(&format!("export ENDED_WHILE='{doing}'"), &program, options);
    // It is at work, or waits.
    std::thread::sleep(Duration::from_millis(300));
    running.signal(signal);
    let sent = Instant::now();
    let recording = running.recording.clone();
    let outcome = || Recording::open(&recording).unwrap().description.unwrap().outcome;
    let (ended, outcome) = running.end_with(outcome);
    assert!(sent.elapsed() < Duration::from_secs(20), "it went on");
    let number = match signal {
        "INT" => libc::SIGINT,
        "HUP" => libc::SIGHUP,
        _ => libc::SIGTERM,
    };
    if !doing.contains("handle") {
        assert_eq!(outcome, Some(Outcome::Killed { signal: number }), "{doing} {signal}");
    }
    (ended.snapshots, ended.stdout)
}

/// Runs of which one has the snapshot.
const TRIES: usize = 3;

// `run --snapshot exit` and Ctrl-C left no snapshot.
on_each!(a_signal_that_ends_the_program_comes_after_the_last_one, |compiler| {
    for (doing, signal) in
        [("select", "TERM"), ("select", "INT"), ("read", "HUP"), ("work", "TERM"), ("work", "INT")]
    {
        for options in [&[][..], &["--snapshot", "exit"]] {
            // The program ends within a second with or without it: on a busy machine the second may be over first.
            let mut tries = (0..TRIES).map(|_| ended_by(compiler, doing, signal, options));
            let has_it = tries.any(|(all, stdout)| {
                // Nothing that it waited for was interrupted.
                assert_eq!(stdout, "", "{doing} {signal}");
                let count = complete(&all, SnapshotReason::Exit).len();
                assert!(count <= 1, "{doing} {signal}: {all:#?}");
                count == 1
            });
            assert!(has_it, "{doing} {signal}: no snapshot in {TRIES} runs");
        }
    }
});

/// It was announced as a fork that runs on and will have a recording.
#[test]
fn the_writer_of_the_last_snapshot_is_no_fork() {
    use std::io::BufRead as _;
    let program = build(&named("system"), "ended_by_signal");
    for signal in ["TERM", "INT"] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("env");
        command.arg("--default-signal=INT,TERM").arg(env!("CARGO_BIN_EXE_memtrail"));
        command.args(["run", "--snapshot", "exit", "-o", "it.memtrail", "--"]);
        command.arg(&program.path).current_dir(folder.path()).env("ENDED_WHILE", "work");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut launcher = command.spawn().unwrap();
        let mut stdout = std::io::BufReader::new(launcher.stdout.take().unwrap());
        let mut pid = String::new();
        stdout.read_line(&mut pid).unwrap();
        let sent = Command::new("kill").args([&format!("-{signal}"), pid.trim()]).status();
        assert!(sent.unwrap().success());
        let output = launcher.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("it.memtrail: ") && !text.contains("was forked"), "{text}");
    }
}

on_each!(the_program_finds_the_default_for_signals_that_we_handle, |compiler| {
    let (all, stdout) = ended_by(compiler, "select default", "TERM", &[]);
    assert_eq!((stdout.as_str(), all.len()), ("was default\n", 1), "{all:#?}");
    // What it sets replaces ours, and it gets its own back.
    let (_, stdout) = ended_by(compiler, "select ignore handle", "TERM", &[]);
    assert_eq!(stdout, "was default\nwas ignored\nhandled\n");
    let (all, stdout) = ended_by(compiler, "select handle default", "TERM", &[]);
    assert_eq!(stdout, "was default\nwas handled\n");
    assert_eq!(complete(&all, SnapshotReason::Exit).len(), 1, "{all:#?}");
});

on_each!(a_forked_child_dies_of_its_own_signal, |compiler| {
    let program = build(&named(compiler), "ended_by_signal");
    let running = Running::start_after("export ENDED_WHILE=child", &program, &[]);
    let ended = running.end();
    assert_eq!((ended.stdout.as_str(), ended.code), ("child: true\n", Some(0)));
});

// Nothing can be taken then, and the program must end all the same.
on_each!(a_program_whose_c_code_keeps_the_lock_ends_within_a_second, |compiler| {
    let program = build_with(&named(compiler), "keeps_lock", &["keeps_lock_stubs.c"]);
    let running = Running::start(&program, &[]);
    std::thread::sleep(Duration::from_millis(300));
    running.signal("TERM");
    let sent = Instant::now();
    let recording = running.recording.clone();
    let outcome = || Recording::open(&recording).unwrap().description.unwrap().outcome;
    let (_, outcome) = running.end_with(outcome);
    // It is a second, and the launcher's own end.
    assert!(sent.elapsed() < Duration::from_secs(10), "{:?}", sent.elapsed());
    assert_eq!(outcome, Some(Outcome::Killed { signal: libc::SIGTERM }));
});

/// `nohup` and shells' background jobs rely on it.
#[test]
fn an_ignored_signal_stays_ignored() {
    let program = build(&named("system"), "ended_by_signal");
    let prelude = "trap '' INT HUP; export ENDED_WHILE=read";
    let running = Running::start_after(prelude, &program, &[]);
    for signal in ["INT", "HUP"] {
        running.signal(signal);
    }
    std::thread::sleep(Duration::from_millis(300));
    let ended = running.end();
    assert_eq!(ended.code, Some(0));
}
