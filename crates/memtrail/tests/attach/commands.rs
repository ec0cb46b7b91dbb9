//! Commands about a program that is attached.

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;

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
