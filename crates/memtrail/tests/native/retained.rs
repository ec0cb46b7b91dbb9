//! `memtrail leaks` and `why` on programs whose suspects are retained by one variable, or by nothing.

use std::path::{Path, PathBuf};

use memtrail_test_support::contents;
use memtrail_test_support::running::{Case, Recorded};
use serde_json::Value;

use super::{compile, json};

/// The first suspect of a program of `tests/leaks` that is compiled from C, and the recording.
fn suspect(source: &str, arguments: &[&str], options: &[&str]) -> (Value, Recorded) {
    let program = compile(&format!("../../leaks/{source}"), &[]);
    let run = Case::command(&program.path, arguments).options(options).recorded();
    let (found, code) = json(&["leaks"], &run.recording);
    assert_eq!(code, Some(0), "{found:#}");
    (found["suspects"][0].clone(), run)
}

/// A table of chains had a path to each of its entries, and `leaks` did not name it.
#[test]
fn a_table_is_named_by_what_it_retains() {
    let options = ["--native", "--rate", "1e-4", "--snapshot", "exit"];
    let (suspect, run) = suspect("lookups_cache.c", &["leak", "20000"], &options);
    let retained = &suspect["retained_by"][0];
    assert_eq!(retained["name"], "variable table (lookups_cache.c:9)", "{suspect:#}");
    // A block that is being entered is referred to from the stack, too.
    assert!(retained["share"].as_f64().unwrap() > 0.9, "{suspect:#}");
    assert_eq!(suspect["next"], "cache_put", "{suspect:#}");
    let said = suspect["descriptions"].to_string();
    assert!(said.contains("retained by variable table (lookups_cache.c:9) at "), "{said}");
    let recording = run.recording.to_str().unwrap();
    let (why, _) = json(&["why", "--limit", "0", recording], Path::new("cache_put"));
    let paths = why["malloc"]["paths"].as_array().unwrap();
    assert!(paths.len() <= 3, "{why:#}");
    assert_eq!(paths[0]["steps"][0], "variable table (lookups_cache.c:9)", "{why:#}");
}

/// Sizes were estimated in the middle of a reallocation, and the array was cleared in a third of the runs.
#[test]
fn an_array_that_doubles_is_a_suspect() {
    for seed in ["1", "2", "3"] {
        let options = ["--native", "--seed", seed];
        let (suspect, _) = suspect("doubled_array.c", &["leak", "4000000"], &options);
        assert_eq!(suspect["allocated"][0]["function"], "add", "{suspect:#}");
        let evidence = suspect["evidence"].as_str().unwrap();
        assert!(
            evidence.starts_with("each of its blocks was replaced by a larger one"),
            "{evidence}"
        );
    }
}

/// The allocator's lists of free chunks retained what lies before these.
#[test]
fn bins_of_the_allocator_retain_nothing() {
    let program = compile("bins.c", &[]);
    let options = ["--native", "--rate", "1", "--snapshot", "exit"];
    let run = Case::command(&program.path, &[]).options(&options).recorded();
    let (found, _) = json(&["leaks", "--limit", "0"], &run.recording);
    let sites = found["unreachable"]["sites"].as_array().unwrap();
    let lost = sites.iter().find(|site| site["allocated"][0]["function"] == "by_lost");
    assert_eq!(lost.unwrap()["unreachable"]["sampled"], 64, "{found:#}");
}

/// The heap of a forked child has two mappings, its parent's and its own: "memory of unknown use" retained the child's blocks.
#[test]
fn a_variable_of_a_forked_child_is_named() {
    let program = compile("forks_and_keeps.c", &[]);
    let options = ["--native", "--children", "--snapshot", "exit", "--rate", "1e-3"];
    let case = Case::command(&program.path, &[]).options(&options);
    let (_, recordings) = case.recorded_in_folder();
    let has_blocks =
        |recording: &&PathBuf| contents::read(recording).inside("receive").next().is_some();
    let named = recordings.iter().filter(has_blocks).filter(|recording| {
        let (why, _) = json(&["why", recording.to_str().unwrap()], Path::new("receive"));
        why["malloc"]["paths"][0]["steps"][0] == "variable pending (forks_and_keeps.c:12)"
    });
    assert_eq!(named.count(), 1, "{recordings:?}");
}
