//! The official messages of pprof and OpenTelemetry, and Prometheus' checker: tools that `cargo xtask setup` fetched.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use memtrail_test_support::compilers::cache;
use serde::Deserialize;
use serde_json::{Value, json};

/// The content of a request, as the official messages have it.
#[derive(Debug, Deserialize)]
pub(crate) struct Official {
    pub(crate) totals: BTreeMap<String, i64>,
    #[serde(default)]
    pub(crate) attributes: BTreeMap<String, Value>,
    pub(crate) strings: Vec<String>,
    #[serde(default)]
    pub(crate) names: Vec<String>,
    #[serde(default)]
    pub(crate) files: Vec<String>,
}

fn tools() -> PathBuf {
    let folder = cache().join("profile-stores-1");
    assert!(folder.is_dir(), "there is no {}\nhint: cargo xtask setup", folder.display());
    folder
}

/// Decodes requests of one kind, `pprof` or `otlp`, and checks them.
pub(crate) fn decoded<'a>(kind: &str, requests: impl Iterator<Item = &'a [u8]>) -> Vec<Official> {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (number, request) in requests.enumerate() {
        let path = folder.path().join(number.to_string());
        fs::write(&path, request).unwrap();
        files.push(json!({"as": kind, "path": path}));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ship/official.py");
    let mut python = Command::new("python3");
    python.arg(script).env("PYTHONPATH", tools().join("python"));
    python.env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.stderr(Stdio::piped()).spawn().unwrap();
    let question = Value::Array(files).to_string();
    python.stdin.take().unwrap().write_all(question.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs Prometheus' checker.
pub(crate) fn promtool(arguments: &[&str], input: &str) -> Output {
    let mut promtool = Command::new(tools().join("promtool"));
    promtool.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = promtool.spawn().unwrap();
    promtool.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    promtool.wait_with_output().unwrap()
}
