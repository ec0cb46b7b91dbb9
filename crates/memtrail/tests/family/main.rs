//! Recordings of a program with its children, taken as a whole. All words are sampled: figures are exact.
#![forbid(unsafe_code)]

mod compared;
mod damaged;
mod each;
mod forks;
mod heaps;
mod history;
mod questions;
mod started;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::{Case, Seen};
use serde_json::Value;

/// Runs memtrail with some words and a path.
fn memtrail(words: &[&str], path: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(words).arg(path).env_remove("COLUMNS").stdin(Stdio::null());
    command.output().expect("memtrail starts")
}

/// The same where it must succeed; what it prints.
fn printed(words: &[&str], path: &Path) -> String {
    let output = memtrail(words, path);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?} {}: {stderr}", path.display());
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(words: &[&str], path: &Path) -> Value {
    serde_json::from_str(&printed(words, path)).expect("JSON")
}

fn figure(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or_else(|| panic!("no {name} in {of:#}"))
}

/// A program of ours with its children, recorded; the folder of its family. The case holds the files.
fn recorded(compiler: &str, program: &str, options: &[&str]) -> (Case, Seen, PathBuf) {
    let case = Case::new(&build(&named(compiler), program), &[]).options(options);
    let (seen, _) = case.recorded_in_folder();
    let entries = std::fs::read_dir(case.folder.path()).expect("a folder").flatten();
    let folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|p| p.is_dir()).collect();
    let [family] = folders.as_slice() else { panic!("{folders:?}") };
    assert_eq!(family.extension().and_then(|e| e.to_str()), Some("family"));
    (case, seen, family.clone())
}
