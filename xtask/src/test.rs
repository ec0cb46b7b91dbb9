//! Run all checks and sum them up.

use std::io::{BufRead, BufReader, Write, stdout};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::command::{Outcome, repository, run};
use crate::compilers;
use crate::docs;
use crate::ocaml_tests;
use crate::setup;
use crate::tally::Tally;
use crate::types;
use crate::web;

/// Run everything, go on after a failure, print `N passed, N failed` last.
pub(crate) fn run_all(with_setup: bool, filter: Option<&str>) -> Tally {
    let mut tally = Tally::default();
    if with_setup {
        let start = Instant::now();
        if let Err(message) = setup::run(false) {
            // Tests that need what is missing fail and say so; the others still tell something.
            println!("setup failed: {message}");
            tally.check(false);
        }
        say_time(start);
    }
    if filter.is_none() {
        cargo_check(&mut tally, "format", &["fmt", "--all", "--check"]);
        let lints =
            ["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"];
        cargo_check(&mut tally, "lints", &lints);
        check(&mut tally, "documentation of the crates", crate_docs);
        check(&mut tally, "the manual", docs::check);
        check(&mut tally, "the page's types of responses", types::check);
        check(&mut tally, "what is built of the page", web::check);
    }
    cargo_test(&mut tally, filter);
    page_tests(&mut tally, filter);
    for name in compilers::absent() {
        println!(
            "not tested: programs of {name}, which is not installed (cargo xtask setup --all-compilers)"
        );
    }
    tally
}

/// As [`run_all`], for the command line.
pub(crate) fn run_and_report(with_setup: bool, filter: Option<&str>) -> ExitCode {
    report(run_all(with_setup, filter))
}

fn report(tally: Tally) -> ExitCode {
    println!("{} passed, {} failed", tally.passed, tally.failed);
    if tally.failed == 0 && tally.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// OCaml's own testsuite, recorded.
pub(crate) fn ocaml(version: Option<&str>, program: Option<&str>) -> ExitCode {
    match ocaml_tests::run(version, program) {
        Ok(tally) => report(tally),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(repository()).args(arguments).stdin(Stdio::null());
    command
}

/// The crates' documentation, private items included, has no warnings.
fn crate_docs() -> Outcome {
    let mut cargo = cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
    run(cargo.arg("--quiet").env("RUSTDOCFLAGS", "--deny warnings"))
}

fn cargo_check(tally: &mut Tally, what: &str, arguments: &[&str]) {
    check(tally, what, || run(&mut cargo(arguments)));
}

fn check(tally: &mut Tally, what: &str, step: impl FnOnce() -> Outcome) {
    println!("--- {what}");
    let start = Instant::now();
    let outcome = step();
    if let Err(message) = &outcome {
        println!("{what} failed: {message}");
    }
    say_time(start);
    tally.check(outcome.is_ok());
}

/// How long a step took, for whoever wants the whole to be shorter.
fn say_time(start: Instant) {
    println!("--- took {} s", start.elapsed().as_secs());
}

fn cargo_test(tally: &mut Tally, filter: Option<&str>) {
    println!("--- tests");
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast"]);
    command.args(filter);
    count(tally, &mut command);
}

/// The page's own tests, and those in which a browser drives it.
fn page_tests(tally: &mut Tally, filter: Option<&str>) {
    if filter.is_none() {
        check(tally, "types of the page", web::check_types);
        check(tally, "lints of the page", web::lint);
        check(tally, "format of the page", web::format);
    }
    println!("--- tests of the page");
    match web::tests(filter) {
        Ok(commands) => commands.into_iter().for_each(|mut command| count(tally, &mut command)),
        Err(message) => {
            println!("{message}");
            tally.check(false);
        }
    }
}

/// Run tests, and count them by what is printed.
fn count(tally: &mut Tally, command: &mut Command) {
    let start = Instant::now();
    let mut counted = Tally::default();
    let success = match command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn() {
        Err(error) => {
            println!("cannot start {}: {error}", command.get_program().to_string_lossy());
            false
        }
        Ok(mut child) => {
            for line in child
                .stdout
                .take()
                .into_iter()
                .flat_map(|out| BufReader::new(out).split(b'\n').map_while(Result::ok))
            {
                let line = String::from_utf8_lossy(&line);
                counted.read(&line);
                let _ = writeln!(stdout(), "{line}");
            }
            child.wait().is_ok_and(|status| status.success())
        }
    };
    // What does not compile has no result line, but it has not passed.
    if !success && counted.failed == 0 {
        counted.failed = 1;
    }
    say_time(start);
    tally.passed += counted.passed;
    tally.failed += counted.failed;
}
