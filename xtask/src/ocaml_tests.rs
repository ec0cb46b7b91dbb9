//! `cargo xtask test ocaml`: OCaml's own testsuite, recorded.
//!
//! The compilers of `tests/compilers.txt` are built once more, with `ocamltest`, in the cache. It
//! builds the testsuite's programs and leaves them; each native one is then run alone, at three rates
//! and with snapshots, and everything that can be seen of it must be the same. A program that differs
//! between two runs alone is left out. `tests/ocaml-testsuite.txt` lists the expected differences.

mod build;
mod compare;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::command::{Outcome, cache};
use crate::tally::Tally;
use compare::{Verdict, compare};

const VERSIONS: [&str; 2] = ["4.14.1000", "5.3.0"];
const EXPECTED: &str = include_str!("../../tests/ocaml-testsuite.txt");

/// Programs at work at once: one a processor.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs it for each version, or for the one that is named; a line for each difference.
pub(crate) fn run(filter: Option<&str>) -> Outcome<Tally> {
    let expected = expected();
    let memtrail = build::memtrail()?;
    let mut tally = Tally::default();
    for version in VERSIONS.iter().filter(|version| filter.is_none_or(|f| version.contains(f))) {
        let folder = cache()?.join(format!("testsuite-{version}"));
        let programs = build::programs(version, &folder)?;
        println!("--- OCaml {version}: {} native programs", programs.len());
        let counted = compare_all(&memtrail, &folder, &programs, &expected, version);
        println!("OCaml {version}: {} passed, {} failed", counted.passed, counted.failed);
        tally.passed += counted.passed;
        tally.failed += counted.failed;
    }
    Ok(tally)
}

/// Reasons by name of test.
fn expected() -> BTreeMap<&'static str, &'static str> {
    EXPECTED
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .map(|(name, reason)| (name, reason.trim()))
        .collect()
}

fn compare_all(
    memtrail: &Path,
    folder: &Path,
    programs: &[PathBuf],
    expected: &BTreeMap<&str, &str>,
    version: &str,
) -> Tally {
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let tests = build::tests(folder);
    let work = || {
        while let Some(program) = programs.get(next.fetch_add(1, Relaxed)) {
            // `lib-threads/_ocamltest/…`: `_ocamltest` stands in the middle of every path.
            let name = program.strip_prefix(&tests).unwrap_or(program).to_string_lossy();
            let name = name.replace("_ocamltest/tests/", "");
            let verdict = compare(memtrail, program);
            let reason = expected.iter().find(|(test, _)| name.contains(**test)).map(|(_, r)| r);
            let passed = match (&verdict, reason) {
                (Verdict::Same, _) => true,
                (Verdict::Varies, _) => continue,
                (Verdict::Differs(how), Some(reason)) => {
                    println!("expected: {version} {name}: {how}: {reason}");
                    true
                }
                (Verdict::Differs(how), None) => {
                    println!("different: {version} {name}: {how}");
                    false
                }
            };
            tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner).check(passed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers() {
            scope.spawn(work);
        }
    });
    tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The list is part of the repository's tests.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::repository;

    #[test]
    fn each_expected_difference_has_a_reason() {
        let listed = EXPECTED.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(listed.count(), expected().len());
        assert!(expected().values().all(|reason| !reason.is_empty()));
        assert!(repository().join("tests/ocaml-testsuite.txt").is_file());
    }
}
