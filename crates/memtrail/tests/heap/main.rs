//! `memtrail heap …` as users run it, on snapshots that real programs leave in the run.
#![forbid(unsafe_code)]

mod bad_input;
mod bigarrays;
mod bounded;
mod classes;
mod compared;
mod compiler_made;
mod containers;
mod coqc;
mod eliom;
mod ephemeron_tables;
mod estimates;
mod exact;
mod finalised;
mod joined;
mod joint;
mod lines;
mod looks;
mod memory;
mod names;
mod selected;
mod shared_records;
mod whys;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use memtrail_test_support::running::{Case, Recorded};
use memtrail_test_support::{compilers, programs};
use serde_json::Value;

/// `memtrail heap ARGS`.
fn heap<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.env_remove("COLUMNS").arg("heap").args(args).output().unwrap()
}

/// The last snapshot of a recording.
fn last_snapshot(recording: &Path) -> PathBuf {
    let mut files: Vec<PathBuf> = std::fs::read_dir(recording)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|name| name == "heap"))
        .collect();
    files.sort();
    files.pop().expect("a snapshot")
}

/// What a command prints that has nothing to complain about.
fn printed<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> String {
    let output = heap(args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

/// A question's answer: `QUESTION FILE ARGS --json`.
fn answer(question: &str, file: &Path, args: &[&str]) -> Value {
    let mut words = vec![question.as_ref(), file.as_os_str()];
    words.extend(args.iter().map(OsStr::new));
    words.push("--json".as_ref());
    serde_json::from_str(&printed(words)).unwrap()
}

/// Exit code and standard error.
fn complaint(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// `tests/programs/heap_held.ml`, with a snapshot from inside `work`, one from the end, and what it
/// printed.
struct Held {
    recorded: Recorded,
    words: BTreeMap<String, u64>,
}

impl Held {
    fn new(compiler: &str, options: &[&str]) -> Self {
        Self::sampled("1e-4", compiler, options)
    }

    fn sampled(rate: &str, compiler: &str, options: &[&str]) -> Self {
        let program = programs::build(&compilers::named(compiler), "heap_held");
        let snapshots = ["--rate", rate, "--snapshot", "every-major", "--snapshot", "exit"];
        let options: Vec<&str> = snapshots.iter().chain(options).copied().collect();
        let recorded = Case::new(&program, &[]).options(&options).same();
        let words = |line: &str| {
            let (name, words) = line.split_once(' ')?;
            Some((name.to_owned(), words.parse().ok()?))
        };
        let words = recorded.seen.stdout().lines().filter_map(words).collect();
        Self { recorded, words }
    }

    fn recording(&self) -> &Path {
        &self.recorded.recording
    }

    /// The snapshot that was taken at the end.
    fn last(&self) -> PathBuf {
        last_snapshot(self.recording())
    }

    /// What the program said that is reachable from there.
    fn bytes(&self, name: &str) -> u64 {
        self.words[name] * 8
    }
}
