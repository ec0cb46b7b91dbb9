//! `memtrail export`.

use std::fs;
use std::process::Output;

use crate::{complaint, fixture, memtrail, truncated};

fn export(args: &[&str]) -> Output {
    let trace = fixture("cache-v2.ctf").display().to_string();
    memtrail(["export"].iter().chain(args).copied().chain([trace.as_str()]))
}

/// Sum of the last numbers of all lines.
fn folded_bytes(output: &Output) -> f64 {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

#[test]
fn every_format_is_written() {
    for (format, start) in [
        ("folded", &b""[..]),
        ("speedscope", b"{"),
        ("pprof", b"\x1f\x8b"),
        ("firefox", b"{"),
        ("json", b"{"),
        ("svg", b"<"),
    ] {
        let output = export(&["--format", format]);
        assert_eq!(complaint(&output), (Some(0), String::new()), "{format}");
        assert!(output.stdout.len() > 100 && output.stdout.starts_with(start), "{format}");
    }
    assert_eq!(export(&["--json"]).stdout, export(&["--format", "json"]).stdout);
}

#[test]
fn a_filter_chooses_what_is_written() {
    let all = folded_bytes(&export(&["--format", "folded"]));
    let live = folded_bytes(&export(&["--format", "folded", "--filter", "live:end"]));
    let gone = folded_bytes(&export(&["--format", "folded", "--filter", "-live:end"]));
    assert!(live > 0.0 && gone > 0.0, "{live} + {gone}");
    assert!((live + gone - all).abs() < 0.01 * all, "{live} + {gone} = {all}");
}

#[test]
fn files_are_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leak.folded");
    fs::write(&path, "old").unwrap();
    let name = path.display().to_string();
    let output = export(&["--format", "folded", "-o", &name]);
    assert_eq!(complaint(&output), (Some(0), String::new()));
    assert!(output.stdout.is_empty());
    assert_eq!(fs::read(&path).unwrap(), export(&["--format", "folded"]).stdout);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn the_ending_of_a_files_name_tells_the_format() {
    let folder = tempfile::tempdir().unwrap();
    for (ending, format) in [
        ("svg", "svg"),
        ("pb.gz", "pprof"),
        ("folded", "folded"),
        ("json", "json"),
        ("speedscope.json", "speedscope"),
        ("firefox.json", "firefox"),
    ] {
        let path = folder.path().join(format!("leak.{ending}"));
        let output = export(&["-o", &path.display().to_string()]);
        assert_eq!(complaint(&output), (Some(0), String::new()), "{ending}");
        assert_eq!(fs::read(&path).unwrap(), export(&["--format", format]).stdout, "{ending}");
    }
    for unknown in [&["-o", "leak.txt"][..], &[]] {
        let (code, text) = complaint(&export(unknown));
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("no --format") && text.contains("hint: "), "{text}");
    }
}

#[test]
fn a_dash_is_standard_output() {
    let output = export(&["--format", "folded", "-o", "-"]);
    assert_eq!(complaint(&output), (Some(0), String::new()));
    assert_eq!(output.stdout, export(&["--format", "folded"]).stdout);
}

#[test]
fn what_could_be_read_of_a_damaged_trace_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let trace = truncated(folder.path()).display().to_string();
    let output = memtrail(["export", "--format", "folded", &trace]);
    assert_eq!(output.status.code(), Some(3));
    assert!(folded_bytes(&output) > 0.0);
}
