//! Programs that are attached at moments at which a thread is in `malloc`, waits, forks or ends.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use memtrail_recording::{FileState, Recording};
use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::{build, build_with};

use crate::server::{Server, memtrail, own_threads};

/// Runs a command, and gives the state that its JSON has.
fn state(arguments: &[&str], folder: &Path) -> Result<String, Output> {
    let mut command = memtrail(arguments);
    let output = command.arg("--json").current_dir(folder).output().expect("memtrail");
    let answer = serde_json::from_slice::<serde_json::Value>(&output.stdout);
    match answer {
        Ok(answer) => Ok(answer["state"].as_str().expect("a state").to_owned()),
        Err(_) => Err(output),
    }
}

fn trace_state(recording: &Path) -> FileState {
    let recording = Recording::open(recording).expect("a recording");
    recording.description.expect("a description").trace.state
}

/// Only a thread that is in `malloc` for a moment could be chosen; the few moments between its calls have to be found.
fn in_malloc(compiler: &str) {
    let program = build_with(&named(compiler), "attached_malloc", &["attached_malloc_stubs.c"]);
    let mut server = Server::start(&program);
    for round in 0..2 {
        let recording = server.recording(round);
        server.attach(&recording, &["--rate", "1e-3"]);
        server.allocate(100);
        server.detach();
        assert_eq!(trace_state(&recording), FileState::Complete);
    }
    server.allocate(100);
    server.end();
}

#[test]
fn of_a_thread_in_malloc() {
    in_malloc("system");
}

#[test]
fn of_a_thread_in_malloc_ocaml_5_3() {
    in_malloc("ocaml-5.3.0");
}

/// OCaml 4 without systhreads: nobody can act for a program that waits, so all is done when it goes on.
#[test]
fn of_a_program_that_waits_for_input() {
    let mut server = Server::start(&build(&named("system"), "attached_alone"));
    let (pid, recording) = (server.pid().to_string(), server.recording(1));
    let name = recording.to_str().expect("text");
    let folder = server.folder.path().to_path_buf();
    let attach = ["attach", &pid, "-o", name, "--rate", "1e-3", "--wait", "0s"];
    assert_eq!(state(&attach, &folder).expect("attached"), "waiting");
    let again = state(&["attach", &pid], &folder).expect_err("it is being attached");
    assert!(String::from_utf8_lossy(&again.stderr).contains("is being attached already"));
    while !recording.join("recording.json").exists() {
        server.allocate(100);
    }
    server.allocate(100);
    assert_eq!(state(&["detach", &pid, "--wait", "0s"], &folder).expect("asked"), "waiting");
    while own_threads(server.pid()) > 0 {
        server.allocate(100);
    }
    server.detach_if_attached();
    assert_eq!(trace_state(&recording), FileState::Complete);
    server.end();
}

/// In OCaml 5 a thread of the agent acts for it.
#[test]
fn of_a_program_that_waits_for_input_ocaml_5_3() {
    let mut server = Server::start(&build(&named("ocaml-5.3.0"), "attached_alone"));
    for round in 0..2 {
        let recording = server.recording(round);
        server.attach(&recording, &["--rate", "1e-3"]);
        server.detach();
        assert_eq!(trace_state(&recording), FileState::Complete);
    }
    server.allocate(100);
    server.end();
}

fn that_wait(compiler: &str) {
    let program = build(&named(compiler), "heap_core_waits");
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(&program.path);
    let mut process = command.stdout(Stdio::piped()).spawn().expect("start it");
    let pid = process.id().to_string();
    let mut stdout = BufReader::new(process.stdout.take().expect("piped"));
    let mut ready = String::new();
    stdout.read_line(&mut ready).expect("a line");
    let mut attached = 0;
    while process.try_wait().expect("it is ours").is_none() {
        attached += u32::from(state(&["attach", &pid, "--wait", "0s"], folder.path()).is_ok());
        let _ = state(&["detach", &pid, "--wait", "0s"], folder.path());
        thread::sleep(Duration::from_millis(10));
    }
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("its output");
    assert_eq!(rest, "the child ended with 7\n1 child\nten ticks\n");
    assert_eq!(process.wait().expect("ended").code(), Some(3));
    assert!(attached > 0);
}

#[test]
fn of_calls_that_must_not_end_early() {
    that_wait("system");
}

#[test]
fn of_calls_that_must_not_end_early_ocaml_5_3() {
    that_wait("ocaml-5.3.0");
}

fn forks(compiler: &str) {
    let mut server = Server::start(&build(&named(compiler), "attached"));
    let recording = server.recording(1);
    server.attach(&recording, &["--rate", "1e-3"]);
    server.fork();
    server.allocate(100);
    server.fork();
    server.detach();
    server.fork();
    assert_eq!(trace_state(&recording), FileState::Complete);
    server.end();
}

#[test]
fn before_the_program_forks() {
    forks("system");
}

#[test]
fn before_the_program_forks_ocaml_5_3() {
    forks("ocaml-5.3.0");
}

#[test]
fn at_which_the_program_is_killed() {
    for pause in [0, 2, 5, 10, 20] {
        let server = Server::start(&build(&named("system"), "attached"));
        let pid = server.pid().to_string();
        let mut command = memtrail(&["attach", &pid]);
        command.current_dir(server.folder.path()).stderr(Stdio::piped());
        let attaching = command.spawn().expect("memtrail");
        thread::sleep(Duration::from_millis(pause));
        server.kill();
        let output = attaching.wait_with_output().expect("ended");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 2 | 3)), "{output:?}");
        assert!(!text.contains("panicked"), "{text}");
    }
}
