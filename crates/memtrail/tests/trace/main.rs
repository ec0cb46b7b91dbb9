//! `memtrail trace …` as users run it.

mod bad_input;
mod copies;
mod outputs;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Traces of real programs, versions 1 to 3.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures")
}

/// `memtrail trace ARGS`, in the folder of the fixtures.
fn command<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.current_dir(fixtures()).arg("trace").args(args);
    command
}

fn trace<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    command(args).output().unwrap()
}

/// What a command prints that has nothing to complain about.
fn printed<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> String {
    let output = trace(args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

/// Exit code and standard error.
fn complaint(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}
