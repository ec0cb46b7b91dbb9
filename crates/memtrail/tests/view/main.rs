//! `memtrail view`, `html` and `export` as users run them. Recordings that grow are followed in
//! the tests of `run`, which have programs to record.
#![forbid(unsafe_code)]

mod client;
mod exported;
mod families;
mod lake;
mod lake_queries;
mod offline;
mod opening;
mod privacy;
mod refused;
mod served;
mod snapshots;
mod source_files;
mod strangers;
mod token;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../top/watched.rs"]
mod watched;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A trace of the trace crate.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures").join(name)
}

fn memtrail<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memtrail")).args(args).output().expect("memtrail runs")
}

/// Exit code and standard error.
fn complaint(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A trace that ends in the middle of a packet.
fn truncated(folder: &Path) -> PathBuf {
    let whole = std::fs::read(fixture("cache-v2.ctf")).expect("the fixture");
    let path = folder.join("truncated.ctf");
    std::fs::write(&path, &whole[..whole.len() * 2 / 3]).expect("write");
    path
}
