//! How far types reach in published programs, with the files of their packages. `cargo test -- --nocapture` prints it.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::{memtrail, printed};

/// A recording of a program with a snapshot at exit, with its types.
pub(super) fn recorded(
    program: &str,
    file: &str,
    text: &str,
    arguments: &[&str],
) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(file), text).unwrap();
    let recording = folder.path().join("R");
    let status = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--snapshot", "exit", "-o"])
        .args([recording.as_os_str(), "--".as_ref(), program.as_ref()])
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    // What units have no files is reported.
    assert_eq!(memtrail(["types".as_ref(), recording.as_os_str()]).status.code(), Some(0));
    (folder, recording)
}

/// What `memtrail heap coverage` says of a snapshot at exit.
fn coverage(program: &str, file: &str, text: &str, arguments: &[&str]) -> Value {
    let (_folder, recording) = recorded(program, file, text, arguments);
    let words = ["heap".as_ref(), "coverage".as_ref(), recording.as_os_str(), "--json".as_ref()];
    let coverage: Value = serde_json::from_str(&printed(words)).unwrap();
    println!(
        "{program}: {:.2} % of {} bytes typed; {} contradictions, {} differing; stops: {}",
        100.0 * share(&coverage),
        coverage["bytes"],
        coverage["contradictions"],
        coverage["differing"],
        coverage["stops"]
    );
    coverage
}

fn share(coverage: &Value) -> f64 {
    let bytes = |key: &str| coverage[key].as_f64().unwrap();
    (bytes("by_variable") + bytes("by_closure")) / bytes("bytes")
}

/// A theory.
pub(super) const THEORY: &str =
    "Lemma l : forall a b : nat, a = b -> b = a.\nProof. intros. symmetry. assumption. Qed.\n";

/// A program for the compiler that keeps it busy.
pub(super) fn functions() -> String {
    let mut source = String::new();
    for i in 0..300 {
        writeln!(source, "let f{i} x y = List.fold_left (fun a e -> a + e * {i}) x [y; x + {i}]")
            .unwrap();
    }
    source
}

#[test]
fn ocamlopt() {
    let found = coverage("ocamlopt.opt", "big.ml", &functions(), &["-c", "-S", "big.ml"]);
    assert!(share(&found) >= 0.985, "{found}");
    assert_eq!(found["contradictions"], 0, "{found}");
}

#[test]
fn coqc() {
    let found = coverage("coqc", "theory.v", THEORY, &["-q", "theory.v"]);
    assert!(share(&found) >= 0.88, "{found}");
    assert_eq!(found["contradictions"], 0, "{found}");
}
