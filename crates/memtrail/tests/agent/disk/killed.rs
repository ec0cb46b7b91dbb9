//! The launcher or the program is killed while a trace is thinned: the recording can be read, is within its limit, and has
//! no file that nobody wants.

use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use memtrail_recording::{Outcome, Recording};
use memtrail_test_support::compilers::named;
use memtrail_test_support::contents;
use memtrail_test_support::is_whole_run;
use memtrail_test_support::programs::{Program, build};
use memtrail_test_support::running::Case;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::watch::{bytes_in, is_being_thinned};
use crate::survival::{child_of, send};

const LIMIT: u64 = 8 << 20;
/// More than any step takes, also where other tests run.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Launcher,
    Program,
}

/// Kills one of them at a moment that the seed chooses. True if the trace was being thinned then.
fn kill(program: &Program, victim: Victim, seed: u64) -> bool {
    let context = format!("{victim:?}, seed {seed}");
    let chosen = |name: &str, end: u64| xxh3_64_with_seed(name.as_bytes(), seed) % end;
    let options = ["--rate", "1e-3", "--disk", "8MiB", "--seed", &seed.to_string()];
    let sessions = tempfile::tempdir().expect("a folder");
    let path = sessions.path().to_str().expect("a name");
    let case = Case::new(program, &["600"]).options(&options).variable("XDG_RUNTIME_DIR", path);
    let (mut launcher, recording) = case.start_recorded();
    let described = || Recording::open(&recording).ok()?.description;
    let is_described = wait_until(&mut launcher, || described().is_some());
    memtrail(&["snapshot"], &recording, &context);
    let is_ready = is_described && wait_until(&mut launcher, || is_being_thinned(&recording));
    assert!(is_ready, "{context}: the program has ended");
    thread::sleep(Duration::from_micros(chosen("delay", 400_000)));
    let was_being_thinned = is_being_thinned(&recording);
    let expected = match victim {
        Victim::Launcher => {
            launcher.kill().expect("killed");
            Outcome::Exited { code: None }
        }
        Victim::Program => {
            send("-9", child_of(launcher.id()));
            Outcome::Killed { signal: 9 }
        }
    };
    launcher.wait().expect("gone");
    let killed = Instant::now();
    let outcome = loop {
        let bytes = bytes_in(&recording);
        assert!(bytes <= LIMIT, "{context}: {bytes} bytes");
        match described().expect("a description").outcome {
            Some(outcome) => break outcome,
            None => thread::sleep(Duration::from_millis(1)),
        }
        assert!(killed.elapsed() < PATIENCE, "{context}: no outcome");
    };
    assert_eq!(outcome, expected, "{context}");
    check_readable(&recording, &context);
    was_being_thinned
}

/// Waits for something; false if the launcher has ended before.
fn wait_until(launcher: &mut Child, mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited for {PATIENCE:?}");
        if launcher.try_wait().expect("a child").is_some() {
            return false;
        }
        thread::sleep(Duration::from_micros(200));
    }
    true
}

fn check_readable(recording: &Path, context: &str) {
    assert!(!is_being_thinned(recording), "{context}: a file is left");
    assert!(!contents::read(recording).blocks.is_empty(), "{context}");
    for command in [&["report"][..], &["leaks"], &["trace", "info"]] {
        memtrail(command, recording, context);
    }
    let bytes = bytes_in(recording);
    assert!(bytes <= LIMIT, "{context}: {bytes} bytes");
}

fn memtrail(command: &[&str], recording: &Path, context: &str) {
    let mut memtrail = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = memtrail.args(command).arg(recording).output().expect("memtrail");
    assert!(output.status.success(), "{context}: {command:?}: {output:?}");
}

#[test]
fn whoever_is_killed_while_a_trace_is_thinned_all_is_readable() {
    let rounds = if is_whole_run() { 200 } else { 6 };
    let program = build(&named("system"), "churn");
    let kills = |victim, first: usize| {
        let program = &program;
        move || {
            let seeds = (first..rounds).step_by(2);
            let kill = |&seed: &usize| {
                let begun = Instant::now();
                let is_during = kill(program, victim, seed as u64);
                println!("{victim:?}, seed {seed}: {:.1} s", begun.elapsed().as_secs_f64());
                is_during
            };
            seeds.filter(kill).count()
        }
    };
    let during = thread::scope(|scope| {
        let other = scope.spawn(kills(Victim::Program, 1));
        kills(Victim::Launcher, 0)() + other.join().expect("rounds")
    });
    // As a rule a trace is thinned for some 100 ms, and waits for the agent for some 200.
    assert!(during * 3 > rounds, "{during} of {rounds} kills were during the thinning");
}
