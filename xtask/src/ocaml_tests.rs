//! `cargo xtask test ocaml`: OCaml's own testsuite, recorded.
//!
//! Compilers of `tests/compilers.txt` are built once more, with `ocamltest`, in the cache. It builds
//! the testsuite's programs and leaves them; each native one is then run alone, at three rates and
//! with snapshots, and everything that can be seen of it must be the same. Where that is not the same
//! between two runs alone, only the exit code is compared. `tests/ocaml-testsuite.txt` lists the
//! expected differences.

mod build;
mod compare;
mod execute;
mod programs;
mod workers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::command::{Outcome, cache, repository, run as run_command, target};
use crate::test::Tally;
use compare::{Verdict, compare};
use programs::Program;

const VERSIONS: [&str; 2] = ["4.14.1000", "5.3.0"];
const EXPECTED: &str = include_str!("../../tests/ocaml-testsuite.txt");

/// Programs, by what came of them.
#[derive(Default)]
struct Counts {
    same: u64,
    /// As listed.
    expected: u64,
    /// Not the same twice when run alone.
    left_out: u64,
    failed: u64,
}

/// Runs it for each version, or for the one that is named; a line for each difference.
pub(crate) fn run(version: Option<&str>, name: Option<&str>) -> Outcome<Tally> {
    let expected = expected();
    let memtrail = memtrail()?;
    let mut tally = Tally::default();
    for version in VERSIONS.iter().filter(|each| version.is_none_or(|v| each.contains(v))) {
        let folder = cache()?.join(format!("testsuite-{version}"));
        build::ensure(version, &folder)?;
        let mut programs = programs::programs(&folder)?;
        programs.retain(|program| name.is_none_or(|name| program.name.contains(name)));
        println!("--- OCaml {version}: {} native programs", programs.len());
        let counts = compare_all(&memtrail, &programs, &expected, version);
        println!(
            "OCaml {version}: {} the same, {} different as expected, {} left out, {} failed",
            counts.same, counts.expected, counts.left_out, counts.failed
        );
        tally.passed += counts.same + counts.expected;
        tally.failed += counts.failed;
    }
    Ok(tally)
}

/// An optimised memtrail of this repository, or the one that `MEMTRAIL` names.
fn memtrail() -> Outcome<PathBuf> {
    if let Some(path) = std::env::var_os("MEMTRAIL") {
        return std::path::absolute(path).map_err(|error| format!("MEMTRAIL: {error}"));
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "--package", "memtrail"]).current_dir(repository());
    run_command(&mut cargo)?;
    Ok(target().join("release/memtrail"))
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
    programs: &[Program],
    expected: &BTreeMap<&str, &str>,
    version: &str,
) -> Counts {
    let counts = Mutex::new(Counts::default());
    workers::each(programs, |program| {
        let name = &program.name;
        let verdict = compare(memtrail, &program.path);
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        match (verdict, expected.get(name.as_str())) {
            (Ok(Verdict::Same), _) => counts.same += 1,
            (Ok(Verdict::Varies(how)), _) => {
                println!("left out: {version} {name}: {how}");
                counts.left_out += 1;
            }
            (Ok(Verdict::Differs(how)), Some(reason)) => {
                println!("expected: {version} {name}: {how}: {reason}");
                counts.expected += 1;
            }
            (Ok(Verdict::Differs(how) | Verdict::Dies(how)) | Err(how), _) => {
                println!("different: {version} {name}: {how}");
                counts.failed += 1;
            }
        }
    });
    counts.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The list is part of the repository's tests.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_expected_difference_has_a_reason() {
        let listed = EXPECTED.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(listed.count(), expected().len());
        assert!(expected().values().all(|reason| !reason.is_empty()));
    }
}
