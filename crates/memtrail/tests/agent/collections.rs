//! What the garbage collector did is counted as the runtime counts it, and the report shows it.

use std::process::Command;

use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::{build, build_with};
use serde_json::Value;

fn memtrail(words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.args(words).output().expect("memtrail starts");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn counts_are_those_of_the_runtime(compiler: &str) {
    let built = build(&named(compiler), "collections");
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("r.memtrail");
    let recording = recording.to_str().expect("a plain name");
    let program = built.path.to_str().expect("a plain name");
    // With snapshots, whose hooks are called behind ours.
    let printed = memtrail(&["run", "--snapshot", "every-major", "-o", recording, "--", program]);
    let counts: Vec<u64> =
        printed.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    let [minor, cycles, compactions] = counts[..] else { panic!("{printed}") };

    let report: Value =
        serde_json::from_str(&memtrail(&["report", "--json", recording])).expect("JSON");
    let found = &report["collections"];
    let number = |name: &str| found[name].as_u64().unwrap_or_else(|| panic!("{name}: {found:#}"));
    // A few of either are before the recording, or after the program has printed.
    assert!(minor >= 200 && number("minor_collections").abs_diff(minor) <= 3, "{minor}: {found:#}");
    assert!(number("major_cycles").abs_diff(cycles) <= 2, "{cycles}: {found:#}");
    if compiler.starts_with("ocaml-5.1") {
        assert_eq!(found["compactions"], Value::Null, "{found:#}");
    } else {
        assert_eq!(number("compactions"), compactions, "{found:#}");
    }
    assert!(number("slices") >= 1, "{found:#}");
    let seconds = |name: &str| found[name].as_f64().expect("seconds");
    let [all, minor, slices] = ["seconds", "minor_seconds", "slice_seconds"].map(seconds);
    assert!(minor > 0.0 && all <= minor + slices + 1e-6 && all >= minor.max(slices), "{found:#}");
    let longest = found["longest"].as_array().expect("pauses");
    assert!(!longest.is_empty() && longest[0]["seconds"].as_f64() <= Some(all), "{found:#}");
    let over_time = found["over_time"].as_array().expect("stretches of time");
    let sum: u64 = over_time.iter().filter_map(|span| span["minor_collections"].as_u64()).sum();
    assert_eq!(sum, number("minor_collections"));

    let text = memtrail(&["report", "--width", "100", recording]);
    for part in ["time in GC", "minor collections", "slices of the major", "longest pauses"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

on_each!(collections_are_counted, counts_are_those_of_the_runtime);

/// Of Flow's workers, 26 major cycles and no minor collection were reported.
fn hooks_of_the_program_s_are_reported(compiler: &str) {
    let built = build_with(&named(compiler), "own_hooks", &["own_hooks_stubs.c"]);
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("r.memtrail");
    let recording = recording.to_str().expect("a plain name");
    let program = built.path.to_str().expect("a plain name");
    assert_eq!(memtrail(&["run", "-o", recording, "--", program]), "counted\n");

    let report: Value =
        serde_json::from_str(&memtrail(&["report", "--json", recording])).expect("JSON");
    let found = &report["collections"];
    assert_eq!(found["replaced"], true, "{found:#}");
    assert!(found["major_cycles"].as_u64() >= Some(1), "{found:#}");
    let text = memtrail(&["report", "--width", "100", recording]);
    assert!(text.contains("time in GC        not measured"), "{text}");
    assert!(!text.contains("minor collections"), "{text}");
}

on_each!(hooks_of_the_program_s, hooks_of_the_program_s_are_reported);
