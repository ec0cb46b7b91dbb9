//! Cargo, as all steps call it.

use std::process::{Command, Stdio};

use crate::command::repository;

/// A command of cargo's in the repository, with these arguments.
pub(super) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(repository()).args(arguments).stdin(Stdio::null());
    command
}
