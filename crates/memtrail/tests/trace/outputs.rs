//! What is printed.

use std::process::Stdio;

use serde_json::Value;

use crate::{command, printed};

const FIXTURES: [&str; 4] =
    ["cache-v2.ctf", "domains-v3.ctf", "lists_and_sets-v1.ctf", "ocamlopt-upstream.ctf"];

#[test]
fn info() {
    insta::assert_snapshot!("info", FIXTURES.map(|trace| printed(["info", trace])).join("\n"));
    insta::assert_snapshot!("info_json", printed(["info", "--json", "cache-v2.ctf"]));
}

#[test]
fn hotspots() {
    insta::assert_snapshot!("hotspots", printed(["hotspots", "cache-v2.ctf"]));
    insta::assert_snapshot!("hotspots_json", printed(["hotspots", "--json", "domains-v3.ctf"]));
}

#[test]
fn folded() {
    insta::assert_snapshot!("folded", printed(["folded", "cache-v2.ctf"]));
    insta::assert_snapshot!("folded_json", printed(["folded", "--json", "domains-v3.ctf"]));
}

#[test]
fn dump() {
    let first =
        |text: String| -> String { text.lines().take(12).map(|l| l.to_owned() + "\n").collect() };
    insta::assert_snapshot!("dump", first(printed(["dump", "cache-v2.ctf"])));
    insta::assert_snapshot!("dump_json", first(printed(["dump", "--json", "domains-v3.ctf"])));
}

#[test]
fn help() {
    for name in ["info", "hotspots", "folded", "dump", "subsample", "strip"] {
        insta::assert_snapshot!(format!("help_{name}"), printed([name, "--help"]));
    }
}

#[test]
fn every_line_of_json_is_an_object_for_every_event() {
    for (trace, events) in FIXTURES.iter().zip([14_077, 4_973, 1_727, 3_499]) {
        let text = printed(["dump", "--json", trace]);
        let mut count = 0;
        for line in text.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            assert!(event["time_us"].is_u64() && event["block"].is_u64(), "{line}");
            assert_eq!(event["stack"].is_array(), event["event"] == "alloc", "{line}");
            count += 1;
        }
        assert_eq!((count, printed(["dump", trace]).lines().count()), (events, events), "{trace}");
    }
}

#[test]
fn a_recording_is_as_good_as_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("cache-20545.memtrail");
    std::fs::create_dir(&recording).unwrap();
    std::fs::copy(crate::fixtures().join("cache-v2.ctf"), recording.join("trace.ctf")).unwrap();
    let path = recording.to_str().unwrap();
    for name in ["hotspots", "folded", "dump"] {
        assert_eq!(printed([name, path]), printed([name, "cache-v2.ctf"]));
    }
}

#[test]
fn readers_that_go_away_are_no_failure() {
    for args in [&["dump"][..], &["dump", "--json"], &["folded"]] {
        let mut child = command(args)
            .arg("ocamlopt-upstream.ctf")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(crate::complaint(&output), (Some(0), String::new()), "{args:?}");
    }
}

#[test]
fn a_full_disk_is_a_failure() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(["folded", "ocamlopt-upstream.ctf"]).stdout(full).output().unwrap();
    let (code, message) = crate::complaint(&output);
    assert_eq!(code, Some(1));
    assert!(message.starts_with("memtrail: cannot write output: "), "{message}");
}

/// Function names of a recording could move the cursor, or set the title of the terminal.
#[test]
fn names_cannot_control_the_terminal() {
    use memtrail_test_support::traces::{Spec, write};
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evil.ctf");
    let names = |code| match code {
        1 => vec![("ou\u{1b}]0;evil\u{7}ter", "a\u{9b}2J.ml", 1)],
        _ => vec![("in\u{1b}[2Jner", "b\u{202E}.ml", 2)],
    };
    let blocks: Vec<Spec> = (0..100).map(|at| Spec::at(at, &[1, 2])).collect();
    std::fs::write(&file, write(1e-3, &blocks, names)).unwrap();
    let file = file.to_str().unwrap();
    let mut all = vec![vec!["export", "--format", "folded", file]];
    all.extend(["dump", "info", "hotspots", "folded"].map(|command| vec!["trace", command, file]));
    for command in all {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_memtrail"))
            .args(&command)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let bad = |c: char| c.is_control() && c != '\n' || c == '\u{202E}';
        assert!(!text.contains(bad), "{command:?}: {text:?}");
        assert_eq!(text.contains("in\u{FFFD}[2Jner"), command[1] != "info", "{text:?}");
    }
}
