//! Programs that run: their functions have names, as after their end, and snapshots are taken of them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::compile;

/// Starts a program that allocates 30 MB and waits for the end of its input.
pub(super) fn start(program: &Path, recording: &Path, options: &[&str]) -> Child {
    let mut memtrail = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--native", "-q", "-o"])
        .arg(recording)
        .args(options)
        .arg("--")
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(memtrail.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "allocated\n");
    memtrail
}

pub(super) fn end(mut memtrail: Child) {
    drop(memtrail.stdin.take());
    assert!(memtrail.wait().unwrap().success());
}

fn report(recording: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.arg("report").arg(recording).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// They were places in files until the program had ended, so that nobody saw what leaked in a server.
#[test]
fn functions_have_names_while_a_program_runs() {
    let (folder, program) = (tempfile::tempdir().unwrap(), compile("quiet.c", &[]));
    let recording = folder.path().join("r.memtrail");
    let memtrail = start(&program.path, &recording, &[]);
    let metrics = folder.path().join("metrics.prom");
    let ask = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(arguments).arg(&recording);
        if arguments[0] == "ship" {
            command.arg("--metrics").arg(&metrics).env("HOME", folder.path());
        }
        let output = command.output().unwrap();
        let file = fs::read_to_string(&metrics).unwrap_or_default();
        (arguments[0].to_owned(), String::from_utf8(output.stdout).unwrap() + &file, output.stderr)
    };
    let asked = [
        ask(&["report"]),
        ask(&["leaks"]),
        ask(&["top", "--once"]),
        ask(&["export", "--format", "folded"]),
        ask(&["ship", "--once"]),
    ];
    end(memtrail);
    for (command, seen, said) in asked {
        let said = String::from_utf8_lossy(&said);
        assert!(seen.contains("at_start"), "{command}: {seen}\n{said}");
        assert!(!seen.contains("program+0x"), "{command}: {seen}");
    }
}

/// The clock stood at the last sample: a program that had waited for minutes "kept growing".
#[test]
fn time_in_which_a_program_waits_counts_while_it_runs() {
    let (folder, program) = (tempfile::tempdir().unwrap(), compile("quiet.c", &[]));
    let recording = folder.path().join("r.memtrail");
    let memtrail = start(&program.path, &recording, &[]);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let running = report(&recording);
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let leaks = command.arg("leaks").arg(&recording).output().unwrap();
    end(memtrail);
    assert!(!running.contains(" ms from "), "{running}");
    let leaks = String::from_utf8(leaks.stdout).unwrap();
    assert!(!leaks.contains("keeps growing"), "{leaks}");
}

/// The new file's functions were shown in place of those that ran.
#[test]
fn a_file_that_is_replaced_while_its_program_runs_gives_no_wrong_names() {
    let (folder, program) = (tempfile::tempdir().unwrap(), compile("quiet.c", &[]));
    let other = compile("leaks.c", &[]);
    let recording = folder.path().join("r.memtrail");
    let memtrail = start(&program.path, &recording, &[]);
    fs::rename(&other.path, &program.path).unwrap();
    let running = report(&recording);
    end(memtrail);
    let ended = report(&recording);
    assert!(running.contains("at_start"), "by the file that the process has: {running}");
    assert!(ended.contains("  program+0x"), "{ended}");
    assert!(ended.contains("functions have no names: "), "{ended}");
}

/// It waited for its whole time for an answer that never came.
#[test]
fn a_program_with_snapshots_at_intervals_takes_others_on_request() {
    let (folder, program) = (tempfile::tempdir().unwrap(), compile("quiet.c", &[]));
    let recording = folder.path().join("r.memtrail");
    let memtrail = start(&program.path, &recording, &["--every", "1h"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let asked = command.arg("snapshot").arg(&recording).output().unwrap();
    end(memtrail);
    assert!(asked.status.success(), "{asked:?}");
    let leaks = Command::new(env!("CARGO_BIN_EXE_memtrail")).arg("leaks").arg(&recording).output();
    let text = String::from_utf8(leaks.unwrap().stdout).unwrap();
    assert!(text.contains("at_start"), "{text}");
}
