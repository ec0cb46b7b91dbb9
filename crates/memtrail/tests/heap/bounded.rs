//! Analyses with less memory than they would like.

use std::fs;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

use crate::answer;

/// Enough blocks for columns to go to files, and so little memory that pages are given back whenever
/// it is looked at.
fn an_analysis_in_files_says_the_same(compiler: &str) {
    let program = build(&named(compiler), "tables");
    let recorded =
        Case::new(&program, &["20000", "100000"]).options(&["--snapshot", "exit"]).same();
    let file = recorded.recording.join("0001.heap");
    let index = recorded.recording.join("0001.heap.index");
    let ask = |options: &[&str]| {
        let mut all = vec!["--min", "0", "--limit", "0"];
        all.extend(options);
        let roots = answer("roots", &file, &all);
        let written = fs::read(&index).unwrap();
        fs::remove_file(&index).unwrap();
        (roots, written)
    };
    let (free, of_free) = ask(&[]);
    let (bounded, of_bounded) = ask(&["--memory", "1M"]);
    assert!(free["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
    assert_eq!(free, bounded);
    assert!(of_free == of_bounded, "another index");
    let file = recorded.recording.join("0001.heap.types");
    let types = |options: &[&str]| {
        let mut all = vec!["--by", "type", "--limit", "0"];
        all.extend(options);
        let histogram = answer("histogram", &recorded.recording.join("0001.heap"), &all);
        let written = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        (histogram, written)
    };
    let (free, of_free) = types(&[]);
    let (bounded, of_bounded) = types(&["--memory", "1M"]);
    assert_eq!(free, bounded);
    assert!(of_free == of_bounded, "other types");
    // What queries need besides is bounded, too.
    for (command, options) in
        [("containers", &["--limit", "20"][..]), ("joint", &["--min", "1", "--limit", "3"])]
    {
        let snapshot = recorded.recording.join("0001.heap");
        let bounded = answer(command, &snapshot, &[options, &["--memory", "1M"]].concat());
        assert_eq!(answer(command, &snapshot, options), bounded, "{command}");
    }
    // Nothing but the recording is left.
    let scratch = fs::read_dir(&recorded.recording)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with("scratch"));
    assert_eq!(scratch.count(), 0);
}

#[test]
fn an_analysis_in_files_says_the_same_on_4() {
    an_analysis_in_files_says_the_same("system");
}

#[test]
fn an_analysis_in_files_says_the_same_on_5() {
    an_analysis_in_files_says_the_same("ocaml-5.3.0");
}
