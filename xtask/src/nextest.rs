//! Bring cargo-nextest, which runs the tests of Rust code.

use std::process::{Command, Stdio};

use crate::command::{Outcome, run};

/// Installs it from its sources unless cargo has it.
pub(crate) fn install() -> Outcome {
    let mut version = Command::new(env!("CARGO"));
    version.args(["nextest", "--version"]).stdin(Stdio::null());
    if version.output().is_ok_and(|answer| answer.status.success()) {
        return Ok(());
    }
    eprintln!("installing cargo-nextest, which takes some minutes");
    let mut cargo = Command::new(env!("CARGO"));
    run(cargo.args(["install", "cargo-nextest", "--version", "^0.9.100", "--locked", "--quiet"]))
}
