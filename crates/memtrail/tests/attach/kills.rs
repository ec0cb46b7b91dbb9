//! memtrail, killed at any moment while it attaches or detaches: the program goes on.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;

use crate::server::{Server, memtrail, own_threads};

fn rounds() -> u64 {
    if memtrail_test_support::is_whole_run() { 100 } else { 6 }
}

/// Starts a command and kills it after so many microseconds.
fn killed(arguments: &[&str], folder: &std::path::Path, after: u64) {
    let mut command = memtrail(arguments);
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("memtrail");
    thread::sleep(Duration::from_micros(after));
    let mut kill = Command::new("kill");
    let _ = kill.args(["-KILL", &child.id().to_string()]).stderr(Stdio::null()).status();
    child.wait().expect("ended");
}

fn survives(compiler: &str, name: &str) {
    let mut server = Server::start(&build(&named(compiler), name));
    let pid = server.pid().to_string();
    for round in 0..rounds() {
        killed(&["attach", &pid], server.folder.path(), 1500 + 2500 * (7 * round % 40));
        if round % 3 == 0 {
            killed(&["detach", &pid], server.folder.path(), 1000 * (round % 40));
        }
        server.allocate(10);
        // Whatever has come of it, it is undone.
        server.detach_if_attached();
    }
    // An agent that was loaded by a memtrail which was killed begins by itself.
    while own_threads(server.pid()) > 0 {
        server.detach_if_attached();
        thread::sleep(Duration::from_millis(20));
    }
    let recording = server.recording(0);
    server.attach(&recording, &["--rate", "1e-3"]);
    server.allocate(100);
    server.detach();
    server.end();
}

#[test]
fn threads() {
    survives("system", "attached");
}

#[test]
fn domains() {
    survives("ocaml-5.3.0", "attached_domains");
}
