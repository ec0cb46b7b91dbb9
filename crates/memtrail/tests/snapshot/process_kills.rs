//! memtrail and its tracer, killed while a process is being copied: the process runs on.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;

use crate::cores::{Plain, heap_of_process};

fn kill(signal: &str, pid: u32) {
    let mut kill = Command::new("kill");
    let _ = kill.args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// The tracer that memtrail has started, if it has.
fn tracer_of(memtrail: u32) -> Option<u32> {
    let path = format!("/proc/{memtrail}/task/{memtrail}/children");
    fs::read_to_string(path).ok()?.split_whitespace().next()?.parse().ok()
}

#[test]
fn a_process_survives_the_end_of_memtrail_and_of_its_tracer() {
    let program = build(&named("system"), "heap_core");
    let mut plain = Plain::start(&program, &[]);
    let expected = plain.line.clone();
    for round in 0..40u64 {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(["snapshot", &plain.pid().to_string(), "-o"]);
        command.arg(folder.path().join("it.memtrail"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut memtrail = command.spawn().expect("start memtrail");
        let signal = if round % 2 == 0 { "-KILL" } else { "-TERM" };
        if round % 4 < 2 {
            let mut tracer = None;
            while tracer.is_none() && memtrail.try_wait().expect("wait").is_none() {
                tracer = tracer_of(memtrail.id());
            }
            // From its start on to its end, in even steps.
            thread::sleep(Duration::from_micros(700 * round));
            if let Some(tracer) = tracer {
                kill(signal, tracer);
            }
        } else {
            thread::sleep(Duration::from_micros(1500 * round));
            kill(signal, memtrail.id());
        }
        memtrail.wait().expect("ended");
        assert!(!plain.has_ended(), "round {round}");
    }
    // It can be copied as before, and does what it would have done.
    let (heap, _) = heap_of_process(plain.pid());
    assert_eq!(crate::core_files::counted(&heap), expected.trim());
    plain.send_line();
    let (rest, code) = plain.end();
    assert_eq!((rest.as_str(), code), ("55", Some(0)));
}

/// "there is no process" had "the process runs on; try again" behind it.
#[test]
fn a_process_that_is_killed_during_its_snapshot_has_one_message() {
    let program = build(&named("system"), "heap_core");
    for round in 0..24u64 {
        let mut plain = Plain::start(&program, &[]);
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(["snapshot", &plain.pid().to_string(), "-o"]);
        command.arg(folder.path().join("it.memtrail"));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut memtrail = command.spawn().expect("start memtrail");
        while tracer_of(memtrail.id()).is_none() && memtrail.try_wait().expect("wait").is_none() {}
        // While the tracer starts, and while it copies.
        thread::sleep(Duration::from_micros(1000 * (round % 12)));
        kill("-KILL", plain.pid());
        let output = memtrail.wait_with_output().expect("ended");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = format!(
            "memtrail: there is no process {}\nhint: list the processes that run: pgrep -a NAME\n",
            plain.pid()
        );
        assert!(output.status.success() || text == expected, "round {round}: {text}");
        while !plain.has_ended() {}
    }
}

/// The second one refused: "process N is traced by process M (exe)".
#[test]
fn two_snapshots_of_a_process_at_once_are_taken_one_after_the_other() {
    let program = build(&named("system"), "heap_core");
    let mut plain = Plain::start(&program, &[]);
    let expected = plain.line.trim().to_owned();
    thread::scope(|scope| {
        let take = || crate::core_files::counted(&heap_of_process(plain.pid()).0);
        let both = [scope.spawn(take), scope.spawn(take)];
        for one in both {
            assert_eq!(one.join().expect("a snapshot"), expected);
        }
    });
    plain.send_line();
    assert_eq!(plain.end().1, Some(0));
}
