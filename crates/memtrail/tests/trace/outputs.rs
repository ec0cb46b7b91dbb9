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
