//! The steps of a run: each is timed and counted, and a failure does not end the run.

use std::io::{BufRead, BufReader, Write, stdout};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::cargo::cargo;
use super::junit;
use super::resume::Resume;
use super::tally::{Tally, Tap, TestTime};
use crate::command::{Outcome, WORKSPACE, repository};
use crate::web;

/// Results of the steps so far.
pub(crate) struct Steps {
    pub(crate) tally: Tally,
    /// Time of each test, in the order in which they ended.
    pub(crate) times: Vec<TestTime>,
    /// Seconds of each step, by its name.
    pub(crate) took: Vec<(String, u64)>,
    resume: Resume,
}

impl Steps {
    pub(crate) fn new(resume: Resume) -> Self {
        Self { tally: Tally::default(), times: Vec::new(), took: Vec::new(), resume }
    }

    /// Run a step that counts as one test.
    pub(crate) fn check(&mut self, name: &str, step: impl FnOnce() -> Outcome) {
        self.counted(name, || {
            step()?;
            Ok(Tally { passed: 1, failed: 0 })
        });
    }

    /// Run a step that counts its own tests; an error is one failure.
    pub(crate) fn counted(&mut self, name: &str, step: impl FnOnce() -> Outcome<Tally>) {
        self.timed(name, |_| match step() {
            Ok(tally) => tally,
            Err(message) => {
                println!("{name} failed: {message}");
                Tally { passed: 0, failed: 1 }
            }
        });
    }

    /// Run the tests of Rust code with nextest.
    pub(crate) fn rust_tests(&mut self, pattern: Option<&str>, all: bool) {
        self.timed("tests", |times| {
            let profile = if all { "all" } else { "default" };
            let mut command = cargo(&["nextest", "run", "--no-fail-fast"]);
            command.args(WORKSPACE).args(["--profile", profile, "--no-tests", "pass"]);
            if let Some(pattern) = pattern {
                command.arg(pattern);
            }
            if all {
                command.env("MEMTRAIL_TEST_ALL", "1");
            }
            // nextest keeps its reports below the workspace, wherever the builds are.
            let path = repository().join("target/nextest").join(profile).join("junit.xml");
            let _ = std::fs::remove_file(&path);
            let ended = command.status();
            let success = match &ended {
                Ok(status) => status.success(),
                Err(error) => {
                    println!("cannot start cargo nextest: {error}");
                    false
                }
            };
            // Without a report nothing was compiled, or no test has that name.
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let report = junit::read(&text);
            times.extend(report.times);
            report.tally.failed_unless(success)
        });
    }

    /// Run the examples in the crates' documentation.
    pub(crate) fn doc_tests(&mut self) {
        self.timed("examples in the documentation", |_| {
            let mut command = cargo(&["test", "--doc", "--no-fail-fast", "--quiet"]);
            count(command.args(WORKSPACE), &mut Vec::new())
        });
    }

    /// Run the page's own tests, and those in which a browser drives it.
    pub(crate) fn page_tests(&mut self, pattern: Option<&str>, all: bool) {
        match web::tests(pattern, all) {
            Ok(commands) => {
                for (name, mut command) in commands {
                    self.timed(name, |times| count(&mut command, times));
                }
            }
            Err(message) => self.check("tests of the page", || Err(message)),
        }
    }

    /// End a run: the next one starts from the beginning unless a step failed.
    pub(crate) fn finish(&self) {
        if self.tally.failed == 0 {
            self.resume.finish();
        }
    }

    fn timed(&mut self, name: &str, step: impl FnOnce(&mut Vec<TestTime>) -> Tally) {
        println!("--- {name}");
        if let Some(tally) = self.resume.passed(name) {
            println!("--- passed in a run of these sources that was interrupted");
            self.tally.add(tally);
            return;
        }
        let start = Instant::now();
        let tally = step(&mut self.times);
        let seconds = start.elapsed().as_secs();
        println!("--- took {seconds} s");
        self.took.push((name.to_owned(), seconds));
        self.resume.note(name, tally);
        self.tally.add(tally);
    }
}

/// Run tests, and count them by what is printed.
fn count(command: &mut Command, times: &mut Vec<TestTime>) -> Tally {
    let mut counted = Tally::default();
    let success = match command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn() {
        Err(error) => {
            println!("cannot start {}: {error}", command.get_program().to_string_lossy());
            false
        }
        Ok(mut child) => {
            let mut tap = Tap::default();
            for line in child
                .stdout
                .take()
                .into_iter()
                .flat_map(|out| BufReader::new(out).split(b'\n').map_while(Result::ok))
            {
                let line = String::from_utf8_lossy(&line);
                counted.read(&line);
                times.extend(tap.read(&line));
                let _ = writeln!(stdout(), "{line}");
            }
            child.wait().is_ok_and(|status| status.success())
        }
    };
    counted.failed_unless(success)
}
