//! `Memtrail.with_label`.

use std::process::Command;

use memtrail_test_support::contents::{Block, Contents};
use memtrail_test_support::on_each;

use crate::same;

/// Labels on a block's stack, the innermost first.
fn labels(block: &Block) -> Vec<&str> {
    let inner = |f: &'_ str| f.starts_with('[') && f != "[no OCaml code]";
    block.stack.iter().map(String::as_str).filter(|f| inner(f)).collect()
}

/// Words allocated by `function` below just these labels, and the standard error of that.
fn expect(contents: &Contents, function: &str, below: &[&str], truth: f64) {
    let chosen = contents.blocks.iter().filter(|block| {
        block.stack.first().is_some_and(|f| f == function) && labels(block) == below
    });
    let samples = chosen.map(|block| block.samples).sum::<u64>() as f64;
    let (words, error) = (samples / contents.rate, samples.sqrt() / contents.rate);
    assert!((words - truth).abs() <= 5.0 * error.max(1.0), "{below:?}: {words} ± {error}, {truth}");
}

/// What one call of `work` allocates: a pair and a cell, 50,000 times.
const WORK: f64 = 300_000.0;

fn check(compiler: &str, options: &[&str]) {
    let (recorded, contents) = same(compiler, "library_labels", options);
    let work = |below: &[&str], times: f64| {
        expect(&contents, "Library_labels.work", below, times * WORK);
    };
    work(&["[a]"], 2.0);
    work(&["[b]"], 2.0);
    work(&["[c]"], 1.0);
    // One label is left by an exception, and everything after is free of it.
    work(&["[inner]", "[outer]"], 1.0);
    work(&[], 1.0);
    work(&["[odd]"], 1.0);
    work(&["[even]"], 1.0);
    let nested: Vec<String> = (1..=50).map(|i| format!("[{i}]")).collect();
    work(&nested.iter().map(String::as_str).collect::<Vec<_>>(), 1.0);
    work(&["[]"], 1.0);
    work(&["[Fun.zero]"], 1.0);
    // Control characters are not for terminals.
    work(&["[a;b  [31m]"], 1.0);
    work(&[&format!("[{}]", "x".repeat(200))], 1.0);
    work(&["[other labels]"], 1.0);
    // A separator within a label separates nothing.
    let folded = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["trace", "folded"])
        .arg(&recorded.recording)
        .output()
        .expect("memtrail trace folded");
    let folded = String::from_utf8_lossy(&folded.stdout).into_owned();
    assert!(folded.contains("Library_labels;[a:b  [31m];Library_labels.work "), "{folded}");
    // The library's own function is not to be seen where the label is.
    assert!(contents.inside("Memtrail.run").all(|block| labels(block).is_empty()));
}

on_each!(labels_are_frames_of_callstacks, |compiler| check(compiler, &["--rate", "1e-2"]));

// Walked anew for each sample, callstacks are the same.
on_each!(labels_stand_where_a_full_walk_finds_them, |compiler| {
    let options = ["--rate", "1e-2", "--check-callstacks"];
    let (_, contents) = same(compiler, "library_labels", &options);
    let checked = contents.description.sampling.checked.expect("callstacks were checked");
    assert!(checked.stacks > 10_000 && checked.different == 0, "{checked:?}");
});

on_each!(threads_have_their_own, |compiler| {
    let (_, contents) = same(compiler, "library_threads", &["--rate", "1e-2"]);
    let work = |below: &[&str]| expect(&contents, "Library_threads.allocate", below, 2.0 * WORK);
    work(&["[one]"]);
    work(&["[two]"]);
    work(&["[three]"]);
    work(&[]);
});

#[test]
fn domains_have_their_own() {
    let (_, contents) = same("ocaml-5.3.0", "library_domains", &["--rate", "1e-2"]);
    for label in ["[one]", "[two]", "[three]", "[main]"] {
        expect(&contents, "Library_domains.allocate", &[label], 2.0 * WORK);
    }
}

#[test]
fn a_captured_continuation_takes_its_labels_along() {
    let (_, contents) = same("ocaml-5.3.0", "library_effects", &["--rate", "1e-2"]);
    let work = |below: &[&str]| expect(&contents, "Library_effects.work", below, WORK);
    work(&["[inside]"]);
    work(&["[inside]", "[second]"]);
    work(&[]);
}
