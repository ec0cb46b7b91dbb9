//! Commands about a program that is attached.

use std::thread::sleep;
use std::time::Duration;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::wakeups::sleeps;

use crate::server::{Server, memtrail};

fn output(arguments: &[&str]) -> String {
    let output = memtrail(arguments).output().expect("memtrail");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn look_at_it_as_under_run() {
    let mut server = Server::start(&build(&named("system"), "attached"));
    let recording = server.recording(1);
    let (pid, path) = (server.pid().to_string(), recording.to_str().expect("text").to_owned());
    server.attach(&recording, &["--rate", "1e-3"]);
    server.allocate(200);
    // Samples come to the file within half a second.
    while !output(&["top", &pid, "--once"]).contains("Attached.") {
        server.allocate(200);
    }
    output(&["snapshot", &pid]);
    assert!(output(&["report", &path]).contains("Attached."));
    server.detach();
    assert!(output(&["report", &path]).contains("Attached."));
    assert!(output(&["heap", "roots", &path]).contains("Attached"));
    output(&["leaks", &path]);
    let late = memtrail(&["snapshot", &path]).output().expect("memtrail");
    assert!(String::from_utf8_lossy(&late.stderr).contains("has ended; the process runs"));
    server.end();
}

/// The thread that waits for `memtrail detach` woke up four times a second.
fn an_idle_one_is_left_alone(compiler: &str, name: &str, options: &[&str]) {
    const SECONDS: u64 = 4;
    let mut server = Server::start(&build(&named(compiler), name));
    server.attach(&server.recording(1), options);
    server.allocate(10);
    sleep(Duration::from_secs(10));
    let pid = server.pid().to_string();
    let before = sleeps(&pid);
    sleep(Duration::from_secs(SECONDS));
    let woken = sleeps(&pid) - before;
    assert!(woken <= 4 * SECONDS, "woken {woken} times in {SECONDS} s");
    server.detach();
    server.end();
}

#[test]
fn leave_an_idle_program_alone() {
    an_idle_one_is_left_alone("ocaml-5.3.0", "attached_alone", &["--rate", "1e-3"]);
}

#[test]
fn leave_an_idle_native_program_alone() {
    an_idle_one_is_left_alone("system", "attached_alone", &["--native"]);
}

/// Another file is another library in the process, as that of another version of memtrail is.
#[test]
fn attach_with_one_agent_after_another() {
    let mut server = Server::start(&build(&named("system"), "attached"));
    let folder = tempfile::tempdir().expect("a folder");
    for (round, cache) in ["a", "b", "a"].into_iter().enumerate() {
        let recording = server.recording(round as u32);
        let cache = ("XDG_CACHE_HOME", folder.path().join(cache));
        server.attach_with(&recording, &["--rate", "1e-3"], Some(cache));
        server.allocate(100);
        server.detach();
    }
    server.end();
}
