//! Signals to a recorded program, to memtrail, and to both.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long anything is waited for, before its absence is a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// Prints each signal that it gets.
const SCRIPT: &str =
    "trap 'echo USR1' USR1; trap 'echo TERM; exit 3' TERM; echo ready; while :; do read line; done";

/// Whether a process has a child with such an argument.
fn has_child(parent: u32, argument: &str) -> bool {
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    all.filter(|path| path.join("cmdline").exists()).any(|path| {
        let read = |name: &str| fs::read_to_string(path.join(name)).unwrap_or_default();
        let of =
            read("stat").rsplit(')').next().and_then(|rest| rest.split(' ').nth(2)?.parse().ok());
        of == Some(parent) && read("cmdline").split('\0').any(|word| word == argument)
    })
}

fn kill(signal: &str, target: &str) {
    assert!(Command::new("/bin/kill").args([signal, "--", target]).status().unwrap().success());
}

/// The program had each signal twice: its own, and the one that memtrail passed on. A server that is told a second time
/// ends at once.
#[test]
fn a_signal_to_the_whole_group_comes_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut memtrail = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--native", "-o"])
        .arg(folder.path().join("r.memtrail"))
        .args(["--", "/bin/bash", "-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let pid = memtrail.id();
    let mut lines = BufReader::new(memtrail.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().as_deref(), Some("ready"));
    let started = Instant::now();
    while !has_child(pid, "watch-group") {
        assert!(started.elapsed() < PATIENCE, "nothing watches the group");
        thread::sleep(Duration::from_millis(10));
    }
    // It has to be ready for signals, too.
    thread::sleep(Duration::from_millis(300));
    for target in [format!("-{pid}"), pid.to_string()] {
        kill("-USR1", &target);
        assert_eq!(lines.next().as_deref(), Some("USR1"), "{target}");
        // Time for a second one.
        thread::sleep(Duration::from_millis(300));
    }
    kill("-TERM", &format!("-{pid}"));
    assert_eq!(lines.collect::<Vec<_>>(), ["TERM"]);
    let output = memtrail.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(!has_child(pid, "watch-group"));
}

/// A program that a script starts in the background begins without `SIGINT`, and may want it all the same: postgres does.
/// memtrail ignored it, too, and passed nothing on.
#[test]
fn a_signal_that_was_ignored_at_the_start_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap '' HUP; exec \"$@\"";
    // bash cannot have what was ignored when it started.
    let program = "import signal, time\nprint(signal.getsignal(1) == signal.SIG_IGN)\nsignal.signal(1, lambda *_: exit(4))\n\
                   print('ready', flush=True)\nwhile True: time.sleep(0.05)";
    let mut memtrail = Command::new("/bin/sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_memtrail"), "run", "--native", "-o"])
        .arg(folder.path().join("r.memtrail"))
        .args(["--", "/usr/bin/python3", "-c", program])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(memtrail.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().as_deref(), Some("True"), "it is ignored by the program");
    assert_eq!(lines.next().as_deref(), Some("ready"));
    kill("-HUP", &memtrail.id().to_string());
    let output = memtrail.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
}
