//! The launcher ends, stops and goes on as the program does, whatever it was started with.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

const MEMTRAIL: &str = env!("CARGO_BIN_EXE_memtrail");

/// Runs a script in a folder of its own and a session of its own, with `$MEMTRAIL` set.
fn shell(script: &str) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("setsid");
    // What hangs fails.
    command.args(["-w", "timeout", "60", "bash", "-c", script]).current_dir(folder.path());
    command.env("MEMTRAIL", MEMTRAIL).stdin(Stdio::null()).output().expect("a shell")
}

/// Lines of `/proc/PID/status` with sets of signals, without the two that the C library keeps for itself.
fn sets_of_signals(status: &str) -> Vec<(String, u64)> {
    let parsed = status.lines().map(|line| {
        let (name, set) = line.split_once(":\t").expect("a name and a set");
        (name.to_owned(), u64::from_str_radix(set, 16).expect("a set") & !(0b11 << 31))
    });
    parsed.collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

// The launcher stopped itself and never learned that the program went on.
#[test]
fn a_program_that_is_continued_alone_goes_on_with_the_launcher() {
    let output =
        shell("$MEMTRAIL run -q -- sh -c '(sleep 0.2; kill -CONT $$) & kill -STOP $$; echo on'");
    assert_eq!((output.status.code(), &*text(&output.stdout)), (Some(0), "on\n"), "{output:?}");
}

#[test]
fn a_stopped_program_is_seen_as_a_stopped_launcher() {
    let script = "import os, signal, sys
child = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
print(os.WSTOPSIG(os.waitpid(child, os.WUNTRACED)[1]), flush=True)
os.kill(child, signal.SIGCONT)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))";
    let output =
        shell(&format!("python3 -c '{script}' $MEMTRAIL run -q -- sh -c 'kill -STOP $$; exit 7'"));
    assert_eq!(text(&output.stdout), "19\n7\n", "{output:?}");
}

// The kernel forgot how the program ended, and the exit code was 126.
#[test]
fn the_exit_code_is_known_where_signals_of_children_are_ignored() {
    let output = shell("env --ignore-signal=CHLD $MEMTRAIL run -q -- sh -c 'exit 5'");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let output = shell(
        "env --ignore-signal=CHLD $MEMTRAIL run -q -- grep SigIgn /proc/self/status; \
         env --ignore-signal=CHLD grep SigIgn /proc/self/status",
    );
    let lines = sets_of_signals(&text(&output.stdout));
    assert_eq!(lines[0], lines[1], "the program ignores them, too");
}

#[test]
fn the_program_has_the_signal_mask_and_dispositions_of_the_launcher() {
    let status = "grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status";
    let output = shell(&format!("$MEMTRAIL run -q -- {status}; {status}"));
    let lines = sets_of_signals(&text(&output.stdout));
    assert_eq!((lines.len(), &lines[..3]), (6, &lines[3..]));
}

// Some of them killed the launcher, so that the program ran on alone; others never came to the program.
#[test]
fn each_signal_is_passed_on() {
    let script = "import signal, sys
passed = [s for s in range(1, 65) if s not in (9, 17, 19, 32, 33)]
signal.pthread_sigmask(signal.SIG_BLOCK, passed)
print('ready', flush=True)
for _ in passed: print(signal.sigwait(passed), flush=True)";
    let folder = tempfile::tempdir().expect("a folder");
    let mut memtrail = Command::new(MEMTRAIL)
        .args(["run", "-q", "--", "python3", "-c", script])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(memtrail.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().as_deref(), Some("ready"));
    for signal in (1..65).filter(|signal| ![9, 17, 19, 32, 33].contains(signal)) {
        let sent = Command::new("/bin/kill")
            .args([format!("-{signal}"), memtrail.id().to_string()])
            .status();
        assert!(sent.expect("kill").success(), "{signal}");
        assert_eq!(lines.next(), Some(signal.to_string()));
    }
    assert!(memtrail.wait().expect("it ends").success());
}

#[test]
fn a_signal_of_the_program_to_its_group_comes_once_and_ends_nothing() {
    let script = "import os, signal, time
signal.signal(signal.SIGALRM, lambda *_: print(1, flush=True))
time.sleep(0.2); os.kill(0, signal.SIGALRM); time.sleep(0.2); print(2)";
    // In a group without `timeout`, which it would end.
    let output = shell(&format!("setsid -w $MEMTRAIL run -q -- python3 -c '{script}'"));
    assert_eq!((output.status.code(), &*text(&output.stdout)), (Some(0), "1\n2\n"), "{output:?}");
}

// A message that could not be written ended memtrail with 101.
#[test]
fn messages_that_cannot_be_written_do_not_change_the_exit_code() {
    for (before, after) in [
        ("", "2>/dev/full"),
        ("", "2>&-"),
        ("", "2> >(true)"),
        ("ulimit -f 0;", "2>file"),
        ("ulimit -f 0;", "2>/dev/full"),
    ] {
        for options in ["", "--json"] {
            let run =
                format!("{before} sleep 0; $MEMTRAIL run {options} -- sh -c 'exit 3' {after}");
            let output = shell(&run);
            assert_eq!(output.status.code(), Some(3), "{run}: {output:?}");
        }
    }
}

// The first file that the agent wrote ended the program.
#[test]
fn a_limit_on_files_that_the_program_sets_itself_does_not_end_it() {
    for options in ["", "--native", "--children", "--native --children"] {
        let run =
            format!("$MEMTRAIL run -q {options} -- bash -c 'ulimit -f 0; exec ls / >/dev/null'");
        let output = shell(&run);
        assert_eq!(output.status.code(), Some(0), "{run}: {output:?}");
    }
}

#[test]
fn a_small_limit_on_stacks_is_no_limit_for_the_launcher() {
    let output = shell("ulimit -s 64; $MEMTRAIL run -q -- sh -c 'ulimit -s; exit 4'");
    assert_eq!((output.status.code(), &*text(&output.stdout)), (Some(4), "64\n"), "{output:?}");
}

// Nothing was said of a folder that was gone, and a trace that was gone was reported as recorded.
#[test]
fn a_recording_that_is_removed_meanwhile_is_reported() {
    let output = shell("$MEMTRAIL run --native -o it -- bash -c 'exec rm -r it'");
    assert!(output.status.success(), "{output:?}");
    let output = shell("$MEMTRAIL run --native -o it -- bash -c 'rm -r it; :'");
    let error = text(&output.stderr);
    assert!(error.contains("it was removed while the program ran"), "{error}");
    let output = shell("$MEMTRAIL run --native -o it -- bash -c 'rm it/trace.ctf; :'");
    let error = text(&output.stderr);
    assert!(error.contains("the trace was removed while the program ran"), "{error}");
    assert!(error.contains("0 sampled blocks"), "{error}");
}

#[test]
fn a_stopped_launcher_leaves_no_process_behind() {
    let output = shell(
        "$MEMTRAIL run -q -- sh -c '(sleep 0.2; kill -CONT $$) & kill -STOP $$'; pgrep -s 0 -x wake-up",
    );
    thread::sleep(Duration::from_millis(20));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
