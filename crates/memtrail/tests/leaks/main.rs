//! `memtrail leaks`, on programs that leak and on programs that look like them and do not.
#![forbid(unsafe_code)]

mod corpus;
mod published;
mod server;
mod suspects;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Runs `memtrail leaks`.
fn leaks(recording: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.env_remove("COLUMNS").arg("leaks").arg(recording).args(args).output().unwrap()
}

/// Its response.
fn response(recording: &Path) -> Value {
    let output = leaks(recording, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The suspects of a response.
fn suspects(response: &Value) -> &Vec<Value> {
    response["suspects"].as_array().unwrap()
}
