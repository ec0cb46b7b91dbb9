//! `memtrail check --no-leak` on native programs that were looked at for references.

use std::path::Path;
use std::process::{Command, Output};

use super::{Program, compile};

fn check(folder: &Path, options: &[&str], program: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["check", "--native", "--rate", "1", "--no-leak"])
        .args(options)
        .arg("--")
        .arg(program)
        .current_dir(folder)
        .env_remove("COLUMNS")
        .output()
        .unwrap()
}

fn leaking() -> Program {
    compile("references.c", &["-pthread"])
}

#[test]
fn blocks_to_which_nothing_refers_fail_in_all_results() {
    let (folder, program) = (tempfile::tempdir().unwrap(), leaking());
    let files = ["--junit", "a.xml", "--markdown", "a.md"];
    let options = [&["--snapshot", "exit"], &files[..]].concat();
    let output = check(folder.path(), &options, &program.path);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let text = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert!(text.contains("nothing refers to ") && text.contains("(conservative scan)"), "{text}");
    assert!(text.contains("allocated in by_lost (references.c:"), "{text}");
    for (file, words) in
        [("a.xml", "<failure message=\"nothing refers to "), ("a.md", "**failed**")]
    {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains(words), "{text}");
        assert!(text.contains("conservative scan") && text.contains("references.c:"), "{text}");
    }
}

/// Without a snapshot growth alone is judged, and of this program too little grows.
#[test]
fn without_a_snapshot_nothing_is_told_of_references() {
    let (folder, program) = (tempfile::tempdir().unwrap(), leaking());
    let output = check(folder.path(), &[], &program.path);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("conservative"), "{output:?}");
}

#[test]
fn a_program_that_frees_its_blocks_passes() {
    let (folder, program) = (tempfile::tempdir().unwrap(), compile("null.c", &[]));
    let output = check(folder.path(), &["--snapshot", "exit"], &program.path);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let text = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(text.contains("no unreachable block was sampled (conservative scan)"), "{text}");
}

/// A program that ends by a system call leaves no moment for the snapshot: whether something leaks is not known.
#[test]
fn a_snapshot_that_is_missing_is_not_a_pass() {
    let program = compile("references.c", &["-pthread", "-DWITHOUT_EXIT"]);
    let folder = tempfile::tempdir().unwrap();
    let output = check(folder.path(), &["--snapshot", "exit"], &program.path);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{stderr}");
    let text = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("the program ended by a system call"), "{text}");
}
