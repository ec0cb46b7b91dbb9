//! What cannot be recorded is run as it is, with one line that says why; what cannot be run at all
//! ends as a shell would end.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use memtrail_test_support::compilers::{is_installed, named};
use memtrail_test_support::contents::recordings_in;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{build, build_bytecode, build_static, build_with_musl};
use memtrail_test_support::running::Case;

fn memtrail(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(arguments).current_dir(folder).output().expect("memtrail starts")
}

/// Not recorded, but run: same output, same end, one line on stderr besides, no folder left.
fn refused(program: &Path, arguments: &[&str], reason: &str) {
    Case::command(program, arguments).same();
    let folder = tempfile::tempdir().expect("a folder");
    let plain = Command::new(program).args(arguments).current_dir(folder.path()).output();
    let plain = plain.expect("the program starts");
    let mut words = vec!["run", "--", program.to_str().expect("UTF-8")];
    words.extend(arguments);
    let output = memtrail(folder.path(), &words);
    assert_eq!(output.status, plain.status);
    assert_eq!(output.stdout, plain.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(reason), "no {reason:?} in {said:?}");
    assert!(said.starts_with("memtrail: "), "{said:?}");
    assert_eq!(said.lines().filter(|l| !l.starts_with("hint: ")).count(), 1, "one line: {said:?}");
    assert!(recordings_in(folder.path()).is_empty(), "a recording of nothing was left");
}

/// A copy of a program of OCaml 5.5 that has the release 5.9.
fn of_a_later_release(program: &Path, folder: &Path) -> std::path::PathBuf {
    let mut file = fs::read(program).expect("the program");
    let is_release = |bytes: &[u8]| bytes.starts_with(b"5.5.") && bytes[5..] == [0, 0, 2];
    let found: Vec<usize> =
        (0..file.len() - 8).filter(|at| is_release(&file[*at..at + 8])).collect();
    assert!(!found.is_empty(), "the program has no Sys.ocaml_version");
    for at in found {
        file[at + 2] = b'9';
    }
    let later = folder.join("later");
    fs::write(&later, file).expect("a file");
    fs::set_permissions(&later, fs::metadata(program).expect("the program").permissions())
        .expect("permissions");
    later
}

#[test]
fn an_unknown_newer_version_ocaml_5_5() {
    if !is_installed("ocaml-5.5") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = build(&named("ocaml-5.5"), "lifetimes");
    let later = of_a_later_release(&program.path, folder.path());
    refused(&later, &[], "has the runtime of OCaml 5.9.");
    let assumed = Case::command(&later, &[]);
    let run = assumed.options(&["--rate", "1e-3", "--assume-version", "5.5"]).same();
    assert!(run.recording.join("trace.ctf").is_file());
    let words = ["run", "--assume-version", "5.9", "--", "true"];
    let output = memtrail(folder.path(), &words);
    assert!(String::from_utf8_lossy(&output.stderr).contains("the newest is 5.5"), "{output:?}");
}

on_each!(bytecode, |compiler| {
    refused(&build_bytecode(&named(compiler), "lifetimes").path, &[], "bytecode");
    let program = build_bytecode(&named(compiler), "lifetimes");
    refused(&program.path, &[], "memtrail snapshot PID");
});
on_each!(static_programs, |compiler| {
    refused(&build_static(&named(compiler), "lifetimes").path, &[], "static");
    let program = build_static(&named(compiler), "lifetimes");
    refused(&program.path, &[], "memtrail snapshot PID");
});

#[test]
fn programs_of_another_c_library() {
    for is_static in [false, true] {
        let program = build_with_musl(&named("system"), "lifetimes", is_static);
        refused(&program.path, &[], "memtrail snapshot PID");
    }
}

#[test]
fn programs_of_other_languages() {
    let hint =
        "hint: its calls of malloc can be recorded: memtrail run --native -- /bin/echo 'hello you'";
    refused(Path::new("/bin/echo"), &["hello you"], hint);
}

/// The hint was to record its calls of `malloc`, which is refused.
#[test]
fn a_static_program_in_c_has_no_hint() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("st.c"), folder.path().join("st"));
    fs::write(&source, "int main(void) { return 3; }\n").expect("a file");
    let compiled = Command::new("gcc").arg("-static").arg(&source).arg("-o").arg(&program).status();
    assert!(compiled.expect("gcc").success());
    refused(&program, &[], "nothing recorded");
    let output = memtrail(folder.path(), &["run", "--", "./st"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("is statically linked") && !said.contains("hint: "), "{said}");
}

/// "no native OCaml program was started by env", which is not true.
#[test]
fn a_program_that_is_started_without_our_variables() {
    let program = build(&named("system"), "lifetimes");
    let path = program.path.to_str().expect("UTF-8");
    let folder = tempfile::tempdir().expect("a folder");
    for words in
        [&["env", "-i", path][..], &["sh", "-c", "unset LD_PRELOAD MEMTRAIL_SESSION; $0", path]]
    {
        let output = memtrail(folder.path(), &[&["run", "--"], words].concat());
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        let expected = format!(
            "memtrail: nothing recorded: {path} was started without LD_PRELOAD, which loads the agent\n\
             hint: put `memtrail run --` directly in front of {path}\n"
        );
        assert_eq!(said, expected);
    }
    // Beside a recording it is no news.
    let both = "env -i /bin/true; $0";
    let output = memtrail(folder.path(), &["run", "--", "sh", "-c", both, path]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("sampled block") && !said.contains("without LD_PRELOAD"), "{said}");
}

/// Valgrind reported errors of the agent's, and ended the program with the code for them. It preloads libraries of these names.
#[test]
fn programs_under_valgrind() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("vgpreload_core-amd64-linux.so");
    let mut gcc = Command::new("gcc");
    let compiled = gcc.args(["-shared", "-xc", "/dev/null", "-o"]).arg(&library).status();
    assert!(compiled.expect("gcc").success());
    let program = build(&named("system"), "lifetimes");
    for (options, path) in
        [(&["--"][..], &*program.path), (&["--native", "--"], Path::new("/bin/echo"))]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
            .arg("run")
            .args(options)
            .arg(path)
            .current_dir(folder.path())
            .env("LD_PRELOAD", &library)
            .output()
            .expect("memtrail starts");
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("runs under valgrind") && said.lines().count() == 1, "{said}");
        assert!(recordings_in(folder.path()).is_empty());
    }
}

#[test]
fn missing_program() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["no-such-program-anywhere", "./missing", "/nonexistent/program"] {
        let output = memtrail(folder.path(), &["run", "--", name]);
        assert_eq!(output.status.code(), Some(127), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(name), "{output:?}");
    }
    assert!(recordings_in(folder.path()).is_empty());
}

#[test]
fn program_that_is_not_executable() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data");
    fs::write(&file, "text").expect("write");
    for name in ["./data", folder.path().to_str().expect("UTF-8")] {
        let output = memtrail(folder.path(), &["run", "--", name]);
        assert_eq!(output.status.code(), Some(126), "{output:?}");
    }
}

#[test]
fn impossible_rates() {
    let folder = tempfile::tempdir().expect("a folder");
    for rate in ["0", "1.5", "-1", "nan", "inf", "potato", "1e-3x", "", "0KiB"] {
        let output = memtrail(folder.path(), &["run", &format!("--rate={rate}"), "--", "true"]);
        assert_eq!(output.status.code(), Some(2), "{rate:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("rate"), "{rate:?}: {said}");
    }
}

#[test]
fn recording_that_exists_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("mine")).expect("mkdir");
    fs::write(folder.path().join("mine/notes"), "precious").expect("write");
    let output = memtrail(folder.path(), &["run", "-o", "mine", "--", "echo", "ran"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(output.stdout, b"", "the program must not have run");
    assert_eq!(fs::read(folder.path().join("mine/notes")).expect("read"), b"precious");
}

/// /proc takes no files, whoever asks.
#[test]
fn folder_that_takes_no_recording() {
    let program = build(&named("system"), "lifetimes");
    let folder = tempfile::tempdir().expect("a folder");
    let path = program.path.to_str().expect("UTF-8");
    let output = memtrail(folder.path(), &["run", "-o", "/proc/memtrail", "--", path]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("/proc/memtrail"), "{output:?}");
}

#[test]
fn no_command_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["run"][..], &["run", "--"], &[], &["frobnicate"]] {
        let output = memtrail(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
}
