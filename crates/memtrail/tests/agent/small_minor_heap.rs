//! Recordings of OCaml 5.3 with a small minor heap say that their estimates are too low: the runtime
//! loses samples in its last 257 words.

use std::path::Path;
use std::process::{Command, Output};

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use serde_json::Value;

fn memtrail(words: &[&str], runtime_parameters: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(words).env("OCAMLRUNPARAM", runtime_parameters);
    let output = command.output().expect("memtrail starts");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn folded(text: &[u8]) -> String {
    String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Records the program, which sets its minor heap to so many words itself unless it is 0. The note
/// that speaks of a heap of `noted` words must be in all that is said of the recording, or in nothing.
fn check(compiler: &str, runtime_parameters: &str, words: &str, noted: Option<u64>) {
    let program = build(&named(compiler), "minor_heap");
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("r.memtrail");
    let path = |path: &Path| path.to_str().expect("a plain name").to_owned();
    let (program, recording) = (path(&program.path), path(&recording));
    let run = ["run", "--rate", "1e-3", "-o", &recording, "--", &program, words];
    let run = memtrail(&run, runtime_parameters);
    let ask = |words: &[&str]| memtrail(&[words, &[recording.as_str()]].concat(), "").stdout;
    let report: Value = serde_json::from_slice(&ask(&["report", "--json"])).expect("JSON");
    let info: Value = serde_json::from_slice(&ask(&["trace", "info", "--json"])).expect("JSON");
    let text = |value: &Value| folded(value.to_string().as_bytes());
    let said = [
        ("the last lines of run", folded(&run.stderr)),
        ("report", folded(&ask(&["report"]))),
        ("report --json", text(&report["recording"]["description"]["notes"])),
        ("trace info", folded(&ask(&["trace", "info"]))),
        ("trace info --json", text(&info["notes"])),
    ];
    for (what, said) in said {
        let Some(noted) = noted else {
            assert!(!said.contains("too low"), "{what}: {said}");
            continue;
        };
        let note = format!("estimates are too low: with a minor heap of {noted} words");
        assert_eq!(said.matches(&note).count(), 1, "{what}: {said}");
    }
    // Beside the figures there is a mark.
    let hotspots = ask(&["trace", "hotspots"]);
    let svg = ask(&["export", "--format", "svg"]);
    for (what, said) in [
        ("report", ask(&["report"])),
        ("info", ask(&["trace", "info"])),
        ("hotspots", hotspots),
        ("svg", svg),
    ] {
        let said = String::from_utf8_lossy(&said).into_owned();
        let marks = said.matches('≥').count();
        assert_eq!(marks > 2, noted.is_some(), "{what}: {said}");
    }
    for format in ["json", "speedscope", "firefox"] {
        let written = ask(&["export", "--format", format]);
        let told = String::from_utf8_lossy(&written).contains("estimates are too low");
        assert_eq!(told, noted.is_some(), "{format}");
    }
    let folded_said = memtrail(&["trace", "folded", &recording], "").stderr;
    assert_eq!(folded(&folded_said).contains("note: ≥ estimates are too low"), noted.is_some());
    let caveat = &report["report"]["caveats"]["estimates"];
    assert_eq!(caveat.is_string(), noted.is_some(), "{caveat}");
    let field = &report["recording"]["description"]["sampling"]["small_minor_heap"];
    assert_eq!(field.as_u64(), noted);
    let allocated = report["report"]["totals"]["allocated"]["bytes"].as_f64().expect("an estimate");
    let low = allocated < 0.9 * 6e7;
    assert_eq!(low, noted.is_some_and(|words| words <= 1_024), "{allocated} of 60,000,000 bytes");
}

#[test]
fn estimates_that_a_small_minor_heap_makes_too_low_have_a_note() {
    check("ocaml-5.3.0", "s=512", "0", Some(512));
}

#[test]
fn a_minor_heap_that_the_program_makes_small_has_a_note() {
    check("ocaml-5.3.0", "", "1024", Some(1_024));
}

#[test]
fn the_default_minor_heap_has_no_note() {
    check("ocaml-5.3.0", "", "0", None);
    check("ocaml-5.3.0", "s=32k", "0", None);
}

#[test]
fn ocaml_4_loses_no_samples_in_a_small_minor_heap_and_has_no_note() {
    for compiler in ["system", "ocaml-4.14.1000"] {
        check(compiler, "s=4k", "0", None);
    }
}
