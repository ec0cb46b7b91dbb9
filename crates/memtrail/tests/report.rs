//! `memtrail report` from outside: exit codes, streams, widths.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures").join(name)
}

fn memtrail() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.arg("report").env("TZ", "UTC").env_remove("COLUMNS").stdin(Stdio::null());
    command
}

fn report(arguments: &[&str]) -> Output {
    memtrail().arg(fixture("cache-v2.ctf")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A report without its last line: the command that shows the same in the browser, which names the
/// recording and is never broken.
fn shown(output: &Output) -> String {
    let all = text(&output.stdout);
    let (report, command) = all.trim_end().rsplit_once('\n').expect("some lines");
    assert!(command.starts_with("in the browser: memtrail view "), "{command}");
    report.to_owned()
}

/// A failure says what is wrong in a line, then what to do about it, and prints nothing else.
#[track_caller]
fn fails(output: &Output, code: i32, words: &str) {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(message.contains(words), "{message}");
    assert!(code != 3 || message.contains("\nhint: "), "{message}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_recording_is_a_folder_or_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.ctf");
    std::fs::copy(fixture("cache-v2.ctf"), &trace).unwrap();
    let of = |path: &Path| memtrail().arg(path).output().unwrap();
    let (whole, bare) = (of(folder.path()), of(&trace));
    assert!(whole.status.success(), "{}", text(&whole.stderr));
    assert_eq!(shown(&whole), shown(&bare));
    assert!(text(&bare.stdout).contains("Stdlib.Queue.add"));
}

#[test]
fn what_is_no_trace_is_refused_with_exit_code_3() {
    let folder = tempfile::tempdir().unwrap();
    let of = |path: &Path| memtrail().arg(path).output().unwrap();
    let empty = folder.path().join("empty.ctf");
    std::fs::write(&empty, "").unwrap();
    fails(&of(&folder.path().join("missing")), 3, "missing: No such file");
    fails(&of(&empty), 3, "empty");
    fails(&of(Path::new(env!("CARGO_BIN_EXE_memtrail"))), 3, "not a memtrace trace");
    fails(&of(folder.path().join("empty.ctf").parent().unwrap()), 3, "not a recording");
}

#[test]
fn a_wrong_command_line_has_exit_code_2() {
    for (arguments, words) in [
        (&["--live-at", "potato"][..], "`potato` is no time"),
        (&["--live-at", "1h"], "outside the recording"),
        (&["--live-at", "1999-12-31T23:59"], "outside the recording"),
        (&["--allocated", "5"], "FROM..TO"),
        (&["--allocated", "80%..20%"], "nothing can be allocated"),
        (&["--by", "colour"], "colour"),
        (&["--width", "3"], "3"),
        (&["--limit", "-1"], "-1"),
    ] {
        fails(&report(arguments), 2, words);
    }
}

#[test]
fn cut_traces_are_reported_as_far_as_they_go() {
    let whole = std::fs::read(fixture("cache-v2.ctf")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.ctf");
    std::fs::write(&path, &whole[..whole.len() * 2 / 3]).unwrap();
    let output = memtrail().arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "as for the commands that read traces");
    assert!(text(&output.stderr).contains("the file ends inside a packet"));
    let text = text(&output.stdout);
    assert!(text.contains("in the trace; `memtrail trace info` names the first\n"), "{text}");
}

/// What a killed process leaves is no damage: all commands say how it ended, and succeed.
#[test]
fn killed_processes_may_leave_half_a_packet() {
    let whole = std::fs::read(fixture("cache-v2.ctf")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.ctf");
    let description = r#"{
        "format": 1, "memtrail": "0.1.0", "program": "/bin/server", "arguments": ["server"],
        "pid": 4711, "host": "box", "notes": ["a note to readers"],
        "runtime": {"language": "OCaml", "version": "4.13", "word_bits": 64, "parameters": ""},
        "sampling": {"rate": 1e-4, "callstacks": "incremental"},
        "clock": {"start_unix_us": 1, "start_monotonic_ns": 2},
        "trace": {"file": "trace.ctf", "bytes": 1, "blocks": 1, "state": "complete"},
        "outcome": {"killed": {"signal": 9}}
    }"#;
    std::fs::write(folder.path().join("recording.json"), description).unwrap();
    let commands =
        [&["report", "--width", "200"][..], &["trace", "info"], &["trace", "info", "--json"]];
    let run = |command: &[&str]| {
        let mut memtrail = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        memtrail.args(command).arg(folder.path()).output().unwrap()
    };
    std::fs::write(&trace, &whole[..whole.len() - 1_000]).unwrap();
    for command in commands {
        let output = run(command);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let text = text(&output.stdout);
        assert!(text.contains("a note to readers"), "{text}");
        let killed = ["killed by signal 9", "\"signal\": 9"];
        assert!(killed.iter().any(|words| text.contains(words)), "{text}");
    }
    // Damage elsewhere is damage, whatever became of the process.
    let mut damaged = whole.clone();
    damaged[whole.len() / 2..whole.len() / 2 + 64].fill(0xff);
    std::fs::write(&trace, damaged).unwrap();
    for command in commands {
        let output = run(command);
        assert_eq!(output.status.code(), Some(3));
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn json_is_one_object_whatever_the_width() {
    let output = report(&["--json", "--limit", "3", "--width", "40"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["format"], 1);
    assert_eq!(value["report"]["places"].as_array().unwrap().len(), 3);
    assert_eq!(value["report"]["places"][0]["name"], "Stdlib.String.concat");
    assert_eq!(value["report"]["totals"]["allocated"]["samples"], 7_054);
}

#[test]
fn the_width_is_80_columns_unless_said_otherwise() {
    let widest =
        |output: &Output| shown(output).lines().map(|line| line.chars().count()).max().unwrap();
    assert_eq!(widest(&report(&[])), 80);
    assert_eq!(widest(&report(&["--width", "100"])), 100);
    let by_variable =
        memtrail().arg(fixture("cache-v2.ctf")).env("COLUMNS", "120").output().unwrap();
    assert_eq!(widest(&by_variable), 120);
}

#[test]
fn pipes_get_no_colours_and_may_break() {
    assert!(!report(&[]).stdout.contains(&0x1b));
    let mut child = memtrail()
        .args([fixture("cache-v2.ctf").to_str().unwrap(), "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn a_full_disk_is_a_failure() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = memtrail()
        .arg(fixture("cache-v2.ctf"))
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write output"), "{}", text(&output.stderr));
}

/// The trace says most by itself; what is not known without the description is said.
#[test]
fn a_bad_description_does_not_hide_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("cache-v2.ctf"), folder.path().join("trace.ctf")).unwrap();
    for description in ["", "{", "{\"format\": 99}", "\0\0\0\0"] {
        std::fs::write(folder.path().join("recording.json"), description).unwrap();
        for command in [&["report", "--width", "200"][..], &["report", "--json"]] {
            let mut memtrail = Command::new(env!("CARGO_BIN_EXE_memtrail"));
            let output = memtrail.args(command).arg(folder.path()).output().unwrap();
            let (out, complaint) = (text(&output.stdout), text(&output.stderr));
            assert_eq!(output.status.code(), Some(3), "{complaint}");
            assert!(complaint.contains("recording.json"), "{complaint}");
            assert!(complaint.contains("hint: the trace was used; unknown are"), "{complaint}");
            assert!(out.contains("Cache") && out.contains("recording.json"), "{out}");
        }
    }
}

/// `--limit 0` printed no place, and a repeated option was refused.
#[test]
fn top_zero_is_all_places_and_the_last_option_wins() {
    let places = |arguments: &[&str]| {
        let output = report(&[&["--json", "--allocated", ".."], arguments].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["report"]["places"].as_array().unwrap().len()
    };
    let all = places(&["--limit", "1000000"]);
    assert!(all > 2, "{all}");
    assert_eq!(places(&["--limit", "0"]), all);
    assert_eq!(places(&["--limit", "5", "--json", "--limit", "2"]), 2);
}

/// A copy of a recording of the manual: analyses are written beside snapshots.
fn stored(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join(name);
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings").join(name);
    std::fs::create_dir(&to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
    (folder, to)
}

/// It ended with a recipe of filters, beside `leaks` that knew the answer.
#[test]
fn a_report_ends_with_the_verdict_of_leaks() {
    for name in ["leaks-4711.memtrail", "fixed-4718.memtrail", "server-4720.memtrail"] {
        let (_folder, recording) = stored(name);
        let mut leaks = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let leaks = leaks.arg("leaks").arg(&recording).args(["--json", "--limit", "0"]).output();
        let leaks: serde_json::Value = serde_json::from_slice(&leaks.unwrap().stdout).unwrap();
        let suspects = leaks["suspects"].as_array().unwrap();
        let verdict = match suspects.first() {
            Some(first) => first["heading"].as_str().unwrap(),
            None => leaks["conclusion"]["description"].as_str().unwrap(),
        };
        let output = memtrail().arg(&recording).args(["--width", "400"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let report = text(&output.stdout);
        let line = report.lines().find(|line| line.starts_with("leaks: ")).expect(&report);
        assert!(line.contains(verdict), "{verdict} is not in {line}");
        assert_eq!(line.contains("more suspect"), suspects.len() > 1, "{line}");
        assert!(report.contains("memtrail leaks "), "{report}");
    }
}

/// Figures of a damaged snapshot are partial: `leaks` says so beside them, one line could not.
#[test]
fn a_report_has_no_verdict_on_a_damaged_snapshot() {
    let (_folder, recording) = stored("leaks-4711.memtrail");
    let last = std::fs::File::options().write(true).open(recording.join("0002.heap")).unwrap();
    last.set_len(60_000).unwrap();
    let report = text(&memtrail().arg(&recording).output().unwrap().stdout);
    assert!(report.contains("Leaks.Session_cache.load"), "{report}");
    assert!(!report.lines().any(|line| line.starts_with("leaks: ")), "{report}");
}
