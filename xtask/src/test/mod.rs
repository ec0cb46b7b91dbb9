//! Run all checks and sum them up: `cargo xtask test`.
//!
//! The run of each change and the whole (`--all`) work in a copy of the repository in the cache, whose builds
//! are kept (`mirror`). A pattern runs matching tests of any layer where the caller is.

mod cargo;
mod junit;
mod mirror;
mod resume;
mod selection;
mod slowest;
mod steps;
mod tally;

use std::process::ExitCode;

use self::cargo::cargo;
use self::resume::Resume;
pub(crate) use self::selection::Selection;
use self::steps::Steps;
pub(crate) use self::tally::Tally;
use crate::command::{Outcome, WORKSPACE, run};
use crate::{arm64, compilers, docs, ocaml_tests, setup, types, web};

/// Run the selected tests, go on after a failure, print `N passed, N failed` last.
pub(crate) fn run_and_report(selection: &Selection) -> ExitCode {
    if selection.pattern.is_none() && !selection.here {
        match mirror::run(selection) {
            Ok(Some(code)) => return code,
            Ok(None) => {}
            Err(message) => println!("tests run in this folder, without the cache: {message}"),
        }
    }
    let steps = run_all(selection);
    slowest::print(&steps);
    report(steps.tally)
}

fn run_all(selection: &Selection) -> Steps {
    let pattern = selection.pattern.as_deref();
    let resume = if selection.all && pattern.is_none() { Resume::load() } else { Resume::off() };
    let mut steps = Steps::new(resume);
    if selection.setup {
        // Tests that need what is missing fail and say so; the others still tell something.
        steps.check("setup", || setup::run(selection.all));
    }
    if pattern.is_none() {
        steps.check("format", || run(&mut cargo(&["fmt", "--all", "--check"])));
        steps.check("lints", lints);
    }
    steps.rust_tests(pattern, selection.all);
    if pattern.is_none() {
        steps.doc_tests();
        steps.check("the manual", docs::check);
        steps.check("the page's types of responses", types::check);
        steps.check("what is built of the page", || web::check(selection.all));
        steps.check("types of the page", web::check_types);
        steps.check("lints of the page", web::lint);
        steps.check("format of the page", web::format);
    }
    steps.page_tests(pattern, selection.all);
    if selection.all && pattern.is_none() {
        steps.check("documentation of the crates", crate_docs);
        steps.check("the program without its optional parts", without_parts);
        steps.counted("OCaml's own testsuite", || ocaml_tests::run(None, None));
    }
    if selection.all {
        steps.finish();
    }
    for name in compilers::absent(selection.all) {
        println!("not tested: programs of {name}, which is not installed");
    }
    steps
}

fn report(tally: Tally) -> ExitCode {
    println!("{} passed, {} failed", tally.passed, tally.failed);
    if tally.failed == 0 && tally.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Run OCaml's own testsuite, recorded.
pub(crate) fn ocaml(version: Option<&str>, program: Option<&str>) -> ExitCode {
    report_suite(ocaml_tests::run(version, program))
}

/// Record programs in an emulated machine.
pub(crate) fn arm64() -> ExitCode {
    report_suite(arm64::run_suite())
}

fn report_suite(outcome: Outcome<Tally>) -> ExitCode {
    match outcome {
        Ok(tally) => report(tally),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn lints() -> Outcome {
    let mut clippy = cargo(&["clippy", "--all-targets", "--quiet"]);
    run(clippy.args(WORKSPACE).args(["--", "--deny", "warnings"]))
}

/// Each optional part can be left out. `ship` needs `parquet`.
fn without_parts() -> Outcome {
    for features in ["", "parquet", "parquet,ship", "mcp", "parquet,mcp"] {
        let check = ["check", "--package", "memtrail", "--no-default-features", "--quiet"];
        run(cargo(&check).args(["--features", features]))?;
    }
    Ok(())
}

/// The crates' documentation, private items included, has no warnings.
fn crate_docs() -> Outcome {
    let doc = ["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"];
    run(cargo(&doc).env("RUSTDOCFLAGS", "--deny warnings"))
}
