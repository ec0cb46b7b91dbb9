//! Commands that go on until the user ends them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::receiver::Receiver;
use crate::recordings::{LEAKS, SERVER, folder, memtrail, recording, revive, ship, status, text};
use crate::windows::check_totals;

pub(crate) fn start(path: &Path, more: &[&str]) -> Child {
    let mut command = memtrail(&["ship", path.to_str().unwrap(), "--every", "100ms"]);
    command.args(more).stderr(Stdio::piped()).spawn().unwrap()
}

/// Ends a command as Ctrl-C does.
pub(crate) fn interrupt(child: Child) -> Output {
    let pid = child.id().to_string();
    let kill = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(kill.success());
    child.wait_with_output().unwrap()
}

pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("it did not become so within a minute");
}

/// Files of a recording that were left in the making.
fn partial(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(".partial")).collect()
}

#[test]
fn ctrl_c_leaves_a_whole_state() {
    let (_folder, path) = recording();
    let whole = fs::read(path.join("recording.json")).unwrap();
    revive(&path);
    let receiver = Receiver::start(&[]);
    let child = start(&path, &["--to", &receiver.url, "--service", "leaks"]);
    wait_until(|| !receiver.taken().is_empty());
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output).contains("shipped"), "{output:?}");
    let of = status(&path);
    let shipped = receiver.taken().len();
    assert_eq!(of["windows"], shipped, "{of}");
    assert_eq!(of["is_over"], false, "{of}");
    assert!(partial(&path).is_empty());
    fs::write(path.join("recording.json"), whole).unwrap();
    assert!(ship(&path, &receiver.url, &[]).status.success());
    check_totals(&path, &receiver.received());
}

#[test]
fn recordings_that_begin_later_are_shipped() {
    let kept = folder(&[LEAKS, SERVER]);
    let named = kept.path().join("recordings");
    fs::create_dir(&named).unwrap();
    let receiver = Receiver::start(&[]);
    let child = start(&named, &["--to", &receiver.url]);
    for name in [LEAKS, SERVER] {
        fs::rename(kept.path().join(name), named.join(name)).unwrap();
        wait_until(|| status_of(&named.join(name))["is_over"] == true);
    }
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let received = receiver.received();
    for name in [LEAKS, SERVER] {
        let service = name.split('-').next().unwrap();
        let own = received.iter().filter(|one| one.labels["service_name"] == service).cloned();
        check_totals(&named.join(name), &own.collect::<Vec<_>>());
    }
}

fn status_of(path: &Path) -> Value {
    let path = path.to_str().unwrap();
    let output = memtrail(&["ship", "--status", "--json", path]).output().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    status["recordings"][0]["destinations"][0].clone()
}

fn get(socket: &Path, target: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    write!(stream, "GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_socket_answers_its_owner_until_the_command_ends() {
    let (folder, path) = recording();
    revive(&path);
    let socket = folder.path().join("socket");
    let target = format!("unix:{}", socket.display());
    let child = start(&path, &["--metrics", &target]);
    wait_until(|| socket.exists() && get(&socket, "/metrics").contains("memtrail_suspect_bytes"));
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let answer = get(&socket, "/metrics");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4"),
        "{head}"
    );
    assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
    let running = body.lines().find(|line| line.starts_with("memtrail_recording_running"));
    assert!(running.is_some_and(|line| line.ends_with(" 1")), "{running:?}");
    assert!(get(&socket, "/").starts_with("HTTP/1.1 404 "));
    // One that says nothing does not keep the others waiting for long.
    let silent = UnixStream::connect(&socket).unwrap();
    assert!(get(&socket, "/metrics?x=1").starts_with("HTTP/1.1 200 "));
    drop(silent);
    let second =
        memtrail(&["ship", path.to_str().unwrap(), "--metrics", &target]).output().unwrap();
    assert!(text(&second).contains("another process listens"), "{second:?}");
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!socket.exists());
}

/// Metrics of a program that is gone are not kept: an alert would never end.
#[test]
fn the_file_of_metrics_goes_with_the_command() {
    let (folder, path) = recording();
    revive(&path);
    let file = folder.path().join("memtrail.prom");
    let child = start(&path, &["--metrics", file.to_str().unwrap()]);
    wait_until(|| file.exists());
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!file.exists() && partial(folder.path()).is_empty());
}
