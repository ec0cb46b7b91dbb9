//! Messages and hints for processes that cannot be attached.

use std::io::BufRead as _;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use memtrail_test_support::compilers::{is_installed, named};
use memtrail_test_support::programs::{build, build_static, build_with};

use crate::server::{Server, assert_refused, memtrail};

fn attach(pid: u32) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let output = memtrail(&["attach", &pid.to_string()]).current_dir(folder.path()).output();
    let left = std::fs::read_dir(folder.path()).expect("it is there").count();
    assert_eq!(left, 0, "a recording was made");
    output.expect("memtrail")
}

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status().expect("kill");
    assert!(sent.success());
}

#[test]
fn hints_for_programs_of_other_languages() {
    let mut sleep = Command::new("sleep").arg("1000").spawn().expect("start sleep");
    assert_refused(&attach(sleep.id()), "is no native OCaml program", "memtrail attach --native");
    // The hint was `memtrail attach PID`, which had just been refused.
    let pid = &*sleep.id().to_string();
    let hint = format!("memtrail attach --native {pid}");
    for command in [&["detach", pid][..], &["top", "--once", pid]] {
        let output = memtrail(command).output().expect("memtrail");
        assert_refused(&output, "is not recorded", &hint);
    }
    sleep.kill().expect("killed");
    sleep.wait().expect("ended");
}

#[test]
fn processes_that_are_not_there() {
    let mut ended = Command::new("true").stdout(Stdio::null()).spawn().expect("start true");
    let pid = ended.id();
    ended.wait().expect("ended");
    assert_refused(&attach(pid), &format!("there is no process {pid}"), "pgrep");
    let detached = memtrail(&["detach", &pid.to_string()]).output().expect("memtrail");
    assert_refused(&detached, &format!("there is no process {pid}"), "pgrep");
}

#[test]
fn static_programs() {
    let program = build_static(&named("system"), "heap_core");
    let mut command = Command::new(&program.path);
    let mut process =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("start it");
    assert_refused(&attach(process.id()), "linked statically", "memtrail snapshot");
    drop(process.stdin.take());
    process.wait().expect("ended");
}

#[test]
fn stopped_processes_stay_stopped() {
    let server = Server::start(&build(&named("system"), "attached"));
    signal(server.pid(), "-STOP");
    let state = || {
        let text =
            std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).expect("it runs");
        text.rsplit(')').next().and_then(|rest| rest.trim().chars().next())
    };
    while state() != Some('T') {
        thread::sleep(Duration::from_millis(1));
    }
    assert_refused(&attach(server.pid()), "is stopped", "kill -CONT");
    assert_eq!(state(), Some('T'));
    signal(server.pid(), "-CONT");
    server.end();
}

#[test]
fn processes_of_other_users() {
    use std::os::unix::process::CommandExt as _;
    let server = Server::start(&build(&named("system"), "attached"));
    let mut command = memtrail(&["attach", &server.pid().to_string()]);
    // As another user; without the right to become one there is nothing to see.
    let Ok(output) = command.uid(12_345).gid(12_345).current_dir("/tmp").output() else { return };
    assert_refused(&output, "belongs to another user (uid", "sudo -u");
    server.end();
}

#[test]
fn processes_that_are_recorded() {
    let server = Server::start(&build(&named("system"), "attached"));
    let recording = server.recording(1);
    server.attach(&recording, &[]);
    let message = format!("process {} is recorded already", server.pid());
    assert_refused(&attach(server.pid()), &message, "memtrail top");
    server.detach();
    let detached = memtrail(&["detach", &server.pid().to_string()]).output().expect("memtrail");
    assert_refused(&detached, "is not recorded", "memtrail attach");
    server.end();
}

/// `snapshot` and `top` answered for a child of the process that was named, and the parent could not be attached.
#[test]
fn the_parent_of_a_recorded_process_is_not_recorded() {
    // This process is its parent.
    let server = Server::start(&build(&named("system"), "attached"));
    server.attach(&server.recording(1), &[]);
    let parent = std::process::id();
    assert_refused(&attach(parent), "is no native OCaml program", "memtrail attach --native");
    let named = |words: &[&str]| {
        let output = memtrail(&[words, &[&parent.to_string()]].concat()).output();
        output.expect("memtrail")
    };
    let snapshot = named(&["snapshot", "-o", "/nowhere/it.memtrail"]);
    assert_refused(&snapshot, "is not recorded, and has no heap to read", "");
    let not_recorded = format!("process {parent} is not recorded");
    assert_refused(&named(&["top", "--once"]), &not_recorded, "memtrail attach");
    assert_refused(&named(&["detach"]), &not_recorded, "memtrail attach");
    server.detach();
    server.end();
}

#[test]
fn programs_that_memtrail_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = build(&named("system"), "attached_alone");
    let mut launcher = memtrail(&["run", "-q", "-o", "it.memtrail", "--"])
        .arg(&program.path)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("memtrail");
    let mut line = String::new();
    let stdout = launcher.stdout.as_mut().expect("piped");
    std::io::BufReader::new(stdout).read_line(&mut line).expect("a line");
    let pid: u32 = line.trim().parse().expect("its number");
    assert_refused(&attach(pid), "is recorded already", "memtrail top");
    let detached = memtrail(&["detach", &pid.to_string()]).output().expect("memtrail");
    assert_refused(&detached, "was started by memtrail run", "memtrail top");
    drop(launcher.stdin.take());
    assert!(launcher.wait().expect("ended").success());
}

/// glibc keeps about 1,600 bytes for libraries that are loaded late. These settings leave it fewer than 300, and a library of the
/// program takes most of them.
#[test]
fn programs_whose_libraries_left_no_thread_local_storage() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "static __thread char room[120]; char *f(void) { return room; }";
    std::fs::write(folder.path().join("room.c"), source).expect("written");
    let mut compiler = Command::new("gcc");
    compiler.args(["-shared", "-fPIC", "-ftls-model=initial-exec", "-o", "room.so", "room.c"]);
    assert!(compiler.current_dir(folder.path()).status().expect("gcc").success());
    let library = folder.path().join("room.so").to_str().expect("text").to_owned();
    let mut program = build_with(&named("system"), "attached_malloc", &["attached_malloc_stubs.c"]);
    let tunables = "glibc.rtld.nns=1:glibc.rtld.optional_static_tls=0".to_owned();
    program.variables.push(("GLIBC_TUNABLES".to_owned(), tunables));
    program.variables.push(("ATTACHED_LIBRARY".to_owned(), library));
    let server = Server::start(&program);
    assert_refused(&attach(server.pid()), "static thread-local storage", "memtrail run");
    server.end();
}

#[test]
fn runtimes_without_a_sampler() {
    if !is_installed("ocaml-5.1.4") {
        return;
    }
    let server = Server::start(&build(&named("ocaml-5.1.4"), "attached"));
    assert_refused(&attach(server.pid()), "has no sampler", "memtrail run");
    server.end();
}

#[test]
fn moments_that_have_passed() {
    let mut command = memtrail(&["attach", "1", "--snapshot", "exit"]);
    assert_refused(&command.output().expect("memtrail"), "--snapshot exit", "every-major");
}
