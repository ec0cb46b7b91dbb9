//! Programs that compile for arm64 and emulate it.

use std::process::Command;

use super::target::TARGET;
use crate::command::{Outcome, run};
use crate::packages;

/// Debian's packages, each with a program that it brings.
const NEEDED: [(&str, &str); 4] = [
    ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
    ("qemu-aarch64-static", "qemu-user-static"),
    ("qemu-system-aarch64", "qemu-system-arm"),
    ("cpio", "cpio"),
];

/// Installs what is missing.
pub(super) fn install() -> Outcome {
    packages::install_programs(&NEEDED)?;
    run(Command::new("rustup").args(["--quiet", "target", "add", TARGET]))
}
