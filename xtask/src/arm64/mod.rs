//! The suite `arm64`: memtrail is compiled for arm64 and records programs in an emulated machine.
//!
//! Emulation of a single process cannot make the copies that snapshots are taken of, so a whole machine with a kernel
//! of its own is emulated. The programs are compiled here: OCaml's compiler for arm64 runs emulated and calls the
//! cross compiler. `tests/arm64/init` is what the machine runs; it prints a line for each check.

mod machine;
mod programs;
mod sources;
mod target;
mod tools;

use std::fs;
use std::process::Command;

use self::target::TARGET;
use crate::command::{self, Outcome, cache, repository, run};
use crate::test::Tally;

/// Builds everything, boots the machine and counts its checks.
pub(crate) fn run_suite() -> Outcome<Tally> {
    let folder = cache()?.join("arm64");
    fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    tools::install()?;
    let memtrail = build_memtrail()?;
    let built = folder.join("programs");
    programs::compile(&folder, &built)?;
    let kernel = machine::fetch(&folder)?;
    let image = machine::pack(&folder, &memtrail, &built)?;
    let console = machine::boot(&kernel, &image)?;
    Ok(count(&console))
}

/// Compiles memtrail as the tests use it.
fn build_memtrail() -> Outcome<std::path::PathBuf> {
    let folder = command::target().join("arm64");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(repository()).args(["build", "--quiet", "--package", "memtrail"]);
    run(cargo.args(["--target", TARGET, "--target-dir"]).arg(&folder))?;
    Ok(folder.join(TARGET).join("debug/memtrail"))
}

/// Counts the lines `ok NAME` and `failed NAME`. A machine that did not come to the end has failed.
fn count(console: &str) -> Tally {
    let begins = |with: &str| console.lines().filter(|line| line.starts_with(with)).count() as u64;
    let ended = console.lines().any(|line| line.trim_end() == "all checks were made");
    if !ended {
        println!("the emulated machine did not come to the end of its checks");
    }
    Tally { passed: begins("ok "), failed: begins("failed ") + u64::from(!ended) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_stops_early_has_failed() {
        let whole = "ok sampling\r\nfailed types: none\r\nall checks were made\r\n";
        let tally = count(whole);
        assert_eq!((tally.passed, tally.failed), (1, 1));
        let tally = count("ok sampling\n[ 1.0] Kernel panic\n");
        assert_eq!((tally.passed, tally.failed), (1, 1));
    }
}
