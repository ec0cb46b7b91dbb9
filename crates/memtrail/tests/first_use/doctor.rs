//! `memtrail doctor` says what will and what will not work, as the commands themselves find it.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{memtrail, printed};

fn diagnosis(words: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let output = memtrail(folder.path()).arg("doctor").arg("--json").args(words).output();
    serde_json::from_str(&printed(&output.expect("memtrail starts"))).expect("JSON")
}

/// The answer about something, and its reason and way out.
fn ability<'d>(diagnosis: &'d Value, name: &str) -> (&'d str, &'d Value) {
    let all = diagnosis["abilities"].as_array().expect("an array");
    let found = all.iter().find(|one| one["name"].as_str().is_some_and(|n| n.starts_with(name)));
    let found = found.unwrap_or_else(|| panic!("{name}: {diagnosis:#}"));
    (found["works"].as_str().expect("a word"), found)
}

#[test]
fn this_machine_can_record() {
    let found = diagnosis(&[]);
    assert_eq!(found["format"], 1);
    assert!(found["machine"]["kernel"].as_str().is_some_and(|kernel| kernel.contains('.')));
    assert_eq!(ability(&found, "memtrail run").0, "yes");
}

#[test]
fn an_ocaml_program_is_recorded_and_a_c_program_with_native() {
    let found = diagnosis(&["ocamlopt.opt"]);
    assert!(found["program"]["kind"].as_str().is_some_and(|kind| kind.starts_with("OCaml ")));
    assert_eq!(ability(&found, "memtrail run:").0, "yes");
    assert_eq!(ability(&found, "memtrail run --native").0, "yes");
    let found = diagnosis(&["ls"]);
    let (works, run) = ability(&found, "memtrail run:");
    assert_eq!(works, "partly");
    assert!(
        run["way_out"].as_str().is_some_and(|way| way.starts_with("memtrail run --native -- "))
    );
    assert_eq!(ability(&found, "memtrail run --native").0, "yes");
    assert_eq!(ability(&found, "memtrail snapshot").0, "no");
}

#[test]
fn a_static_program_cannot_be_recorded_and_the_way_out_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("idle.ml");
    fs::write(&source, "let () = print_string (String.concat \"\" [])\n").expect("a source");
    let program = folder.path().join("idle");
    let mut command = Command::new("ocamlfind");
    command.args(["ocamlopt", "-ccopt", "-static", "-o"]).arg(&program).arg(&source);
    let built = command.stderr(Stdio::null()).status().expect("ocamlfind starts");
    assert!(built.success());
    let found = diagnosis(&[program.to_str().expect("UTF-8")]);
    let (works, run) = ability(&found, "memtrail run:");
    assert_eq!(works, "no");
    assert!(
        run["way_out"].as_str().is_some_and(|way| way.contains("memtrail snapshot PID")),
        "{run}"
    );
    // Its heap can be read: there is no way out to be named.
    let (works, snapshot) = ability(&found, "memtrail snapshot");
    assert_eq!((works, &snapshot["way_out"]), ("yes", &Value::Null), "{snapshot}");
}

/// A static C program was told to run under `--native`, which refuses such programs.
#[test]
fn no_hint_is_of_a_command_that_refuses_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("idle.c");
    fs::write(&source, "int main(void) { return 0; }\n").expect("a source");
    let program = folder.path().join("idle");
    let built = Command::new("gcc").arg("-static").arg("-o").arg(&program).arg(&source).status();
    assert!(built.expect("gcc starts").success());
    let found = diagnosis(&[program.to_str().expect("UTF-8")]);
    assert_eq!(ability(&found, "memtrail run --native").0, "no");
    for one in found["abilities"].as_array().expect("an array") {
        let way = one["way_out"].as_str().unwrap_or_default();
        assert!(!way.contains("--native"), "{one}");
    }
}

#[test]
fn a_process_without_a_heap_has_no_snapshot() {
    let mut child = Command::new("sleep").arg("60").spawn().expect("sleep starts");
    let pid = child.id().to_string();
    let found = diagnosis(&[&pid]);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(found["process"]["pid"].to_string(), pid);
    let (works, snapshot) = ability(&found, "memtrail snapshot");
    assert_eq!(works, "no");
    assert!(snapshot["reason"].as_str().is_some_and(|reason| reason.contains("no heap to read")));
}

#[test]
fn what_does_not_exist_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for subject in ["no-such-program", "./4711", "999999999"] {
        let output = memtrail(folder.path()).args(["doctor", subject]).output().expect("it starts");
        assert_eq!(output.status.code(), Some(3), "{subject}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("hint: "), "{output:?}");
    }
}

#[test]
fn a_limit_on_address_space_is_an_obstacle() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = env!("CARGO_BIN_EXE_memtrail");
    let line = format!("ulimit -v 60000; exec {program} doctor --json");
    let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output();
    let found: Value = serde_json::from_str(&printed(&output.expect("sh starts"))).expect("JSON");
    let (works, run) = ability(&found, "memtrail run");
    assert_eq!(works, "no");
    assert!(run["reason"].as_str().is_some_and(|reason| reason.contains("ulimit -v")), "{run}");
}
