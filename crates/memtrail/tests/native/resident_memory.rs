//! What resident memory of a native program is used for.

use std::process::Command;

use memtrail_test_support::running::Case;
use serde_json::Value;

use crate::compile;

const MIB: u64 = 1 << 20;
/// The kernel counts resident pages by processor, and adds a few dozen of each up later.
const COUNTED_LATE: u64 = MIB / 4;

fn report(arguments: &[&str], options: &[&str]) -> (Value, String) {
    let program = compile("resident.c", &[]);
    let recorded = Case::command(&program.path, arguments).options(options).recorded();
    let report = |form: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let output = command.arg("report").args(form).arg(&recorded.recording).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&report(&["--json"])).unwrap();
    (json["memory"].clone(), report(&["--width", "100"]))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

fn row(memory: &Value, part: &str) -> u64 {
    let rows = memory["rows"].as_array().unwrap_or_else(|| panic!("{memory:#}"));
    rows.iter().find(|row| row["part"] == part).map_or(0, |row| number(&row["bytes"]))
}

/// `malloc_trim` was to return 71.4 MiB and returned nothing: a block in use was in each page.
#[test]
fn trimming_is_not_promised_to_return_what_is_free() {
    let options = ["--native", "--rate", "0.01"];
    let (before, text) = report(&[], &options);
    let (after, _) = report(&["trim"], &options);
    let returned = number(&before["rss"]).saturating_sub(number(&after["rss"]));
    let kept = number(&before["advice"][0]["bytes"]);
    assert!(kept > 30 * MIB && returned < 4 * MIB, "{kept}, {returned}: {text}");
    assert!(text.contains(", perhaps nothing: malloc keeps so much after free"), "{text}");
}

#[test]
fn the_table_has_the_call_sites_of_what_malloc_has_in_use() {
    let (memory, text) = report(&[], &["--native", "--rate", "0.01"]);
    let (rss, sum) = (number(&memory["rss"]), number(&memory["sum"]));
    assert!(sum.abs_diff(rss) <= rss / 50 + COUNTED_LATE, "{memory:#}");
    let blocks = 40_000 * 1008;
    assert!((blocks..blocks + MIB).contains(&row(&memory, "malloc-used")), "{memory:#}");
    assert!((blocks - 4 * MIB..blocks + MIB).contains(&row(&memory, "malloc-kept")), "{memory:#}");
    assert!(row(&memory, "stacks") >= 2 * MIB, "{memory:#}");
    assert!(row(&memory, "agent") > 0 && row(&memory, "other") < 4 * MIB, "{memory:#}");
    assert_eq!(memory["advice"][0]["remedy"], "malloc-trim", "{memory:#}");

    let malloc = &memory["malloc"];
    let allocators = malloc["allocators"].as_array().unwrap();
    let parts: u64 = allocators.iter().map(|part| number(&part["bytes"])).sum();
    assert_eq!(parts + number(&malloc["rest"]), row(&memory, "malloc-used"));
    let site = &allocators[0]["sites"][0];
    assert!(site["site"].as_str().unwrap().starts_with("keep (resident.c:"), "{malloc:#}");
    let error = number(&site["bytes"]).abs_diff(40_000_000) as f64;
    assert!(error < 4.0 * site["asked_stderr"].as_f64().unwrap() + 1e6, "{malloc:#}");
    assert!(text.contains("    keep (resident.c:"), "{text}");
    assert!(text.contains("    not sampled, and malloc's own\n"), "{text}");
    assert!(!text.contains("OCaml"), "{text}");
}

/// The handler interrupts `malloc`, which may hold its lock: it is not asked for its figures. Or it interrupts the
/// recording: the figures of the end were missing where a sample was being written.
#[test]
fn a_handler_that_ends_the_process_is_not_kept() {
    for rate in ["0.0001", "0.01"] {
        let (memory, _) = report(&["endless"], &["--native", "--rate", rate]);
        let (rss, sum) = (number(&memory["rss"]), number(&memory["sum"]));
        assert!(sum.abs_diff(rss) <= rss / 50 + COUNTED_LATE, "{memory:#}");
        // With what the handler mapped: these figures are those of the end. It may be beside an arena of `malloc`.
        assert!(rss >= 2 * 40_000_000 + 64 * MIB, "{memory:#}");
    }
}

/// What was damaged was left out without a word.
#[test]
fn a_damaged_file_of_figures_is_reported() {
    let program = compile("resident.c", &[]);
    let recorded = Case::command(&program.path, &[]).options(&["--native"]).recorded();
    let file = recorded.recording.join("memory");
    let figures = std::fs::read_to_string(&file).unwrap();
    let lines = figures.lines().count();
    let report = |text: String| {
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let output = command.args(["report", "--json"]).arg(&recorded.recording).output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        (json, output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (json, code, stderr) = report(format!("{figures}m 5 rss\n"));
    let why = format!("memory is damaged: line {} makes no sense", lines + 1);
    assert!(json["recording"]["damaged"][0].as_str().unwrap().ends_with(&why), "{json:#}");
    assert!(stderr.contains(&why) && stderr.contains("hint: the lines before that were used"));
    assert_eq!(code, Some(3));
    assert!(number(&json["memory"]["rss"]) > 0);
    let (json, code, _) = report("something else\n".into());
    let why = json["recording"]["damaged"][0].as_str().unwrap();
    assert!(why.ends_with("it does not begin with `memtrail memory 1`"), "{why}");
    assert_eq!((code, &json["memory"]), (Some(3), &Value::Null));
    // A line that is being written is none yet.
    let (json, code, _) = report(format!("{figures}m 5 rs"));
    assert_eq!((code, &json["recording"]["damaged"]), (Some(0), &Value::Null));
}
