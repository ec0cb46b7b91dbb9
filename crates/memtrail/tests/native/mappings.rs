//! Mappings of the program's own, recorded with `--mmap`.

use memtrail_test_support::contents::{self, Contents};
use memtrail_test_support::running::Case;
use memtrail_trace::Source;

use crate::{bytes, compile, json};

const PAGE: u64 = 4096;

fn recorded(options: &[&str]) -> (Contents, serde_json::Value) {
    let program = compile("mappings.c", &[]);
    let recorded = Case::command(&program.path, &[]).options(options).same();
    assert_eq!(recorded.seen.status.code(), Some(5));
    let (report, _) = json(&["report"], &recorded.recording);
    (contents::read(&recorded.recording), report)
}

#[test]
fn mappings_are_external_blocks() {
    let (contents, report) = recorded(&["--native", "--mmap", "--rate", "1"]);
    let pages = |function: &str| {
        let inside = |block: &&contents::Block| block.stack.get(1).is_some_and(|f| f == function);
        let own = contents.blocks.iter().filter(inside);
        let (mut all, mut live) = (0, 0);
        for block in own {
            assert_eq!(block.source, Source::External);
            all += block.samples * 8 / PAGE;
            live += if block.collected.is_none() { block.samples * 8 / PAGE } else { 0 };
        }
        (all, live)
    };
    assert_eq!(pages("whole"), (50 * 10, 25 * 10));
    // What is left of a mapping is a block of its own.
    assert_eq!(pages("in_parts"), (50 * (10 + 9 + 8 + 3 + 3), 50 * 6));
    assert_eq!(pages("covered"), (50 * (5 + 1 + 1), 50 * 2));
    assert_eq!(pages("covers"), (50 * 3, 50 * 3));
    assert_eq!(bytes(&contents, "grows"), ((50 * 51 / 2 - 1) * PAGE, 50 * PAGE));
    assert_eq!(pages("of_file"), (2, 2));
    assert_eq!(pages("reserves"), (0, 0));
    assert_eq!(bytes(&contents, "large"), (3 << 20, 3 << 20));
    let malloc = &report["memory"]["malloc"]["asked"];
    let asked = malloc.as_f64().unwrap_or_else(|| panic!("{report:#}"));
    assert!((3_145_728.0..3_250_000.0).contains(&asked), "{asked}");
}

#[test]
fn samples_of_mappings_estimate_the_same() {
    let (contents, _) = recorded(&["--native", "--mmap", "--rate", "0.01", "--seed", "2"]);
    let live: u64 = contents
        .inside("in_parts")
        .filter(|block| block.collected.is_none())
        .map(|block| block.samples)
        .sum();
    // Of 153,600 words; three standard errors.
    assert!(live.abs_diff(1536) < 118, "{live}");
}

#[test]
fn mappings_are_not_recorded_unless_that_is_asked_for() {
    let (contents, _) = recorded(&["--native", "--rate", "1"]);
    assert!(contents.blocks.iter().all(|block| block.source != Source::External));
}

/// An allocator that calls `mmap` for its blocks: what it maps is none of the program's.
#[test]
fn mappings_of_other_allocators_are_left_out() {
    let program = compile("mappings.c", &["-Wl,--no-as-needed", "-l:libjemalloc.so.2"]);
    let case = Case::command(&program.path, &[]).options(&["--native", "--mmap", "--rate", "1"]);
    let contents = contents::read(&case.same().recording);
    let large: Vec<_> = contents.inside("large").map(|block| (block.source, block.words)).collect();
    assert_eq!(large, [(Source::Major, (3 << 20) / 8 - 1)]);
    assert_eq!(contents.inside("whole").count(), 50);
}

/// Of an OCaml program its runtime's mappings would be recorded, too.
#[test]
fn mappings_are_not_recorded_of_ocaml_programs() {
    let refused = |options: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let output = command.arg("run").args(options).args(["--", "/bin/true"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let also = refused(&["--native=also", "--mmap"]);
    assert!(
        also.contains("--mmap is not for OCaml programs: --native=also records calls of malloc"),
        "{also}"
    );
    assert!(also.contains("hint: memtrail run --native --mmap -- PROGRAM"), "{also}");
    assert!(refused(&["--mmap"]).contains("--mmap is for native programs"));
}

/// A program whose mappings were not recorded passed `check --no-leak`.
#[test]
fn mappings_that_are_not_recorded_are_not_cleared() {
    let program = compile("maps_and_keeps.c", &[]);
    let judged = |options: &[&str]| {
        let recorded = Case::command(&program.path, &[]).options(options).recorded();
        let (found, _) = json(&["leaks"], &recorded.recording);
        let (_, code) = json(&["check", "--no-leak", "--recording"], &recorded.recording);
        (found, code)
    };
    let (found, code) = judged(&["--native"]);
    assert_eq!(found["unrecorded"]["option"], "--native --mmap", "{found:#}");
    assert_eq!(code, Some(6), "{found:#}");
    let (found, _) = judged(&["--native", "--mmap"]);
    assert_eq!(found["unrecorded"], serde_json::Value::Null, "{found:#}");
}

/// Work was counted by calls of `malloc` alone: a program that maps its memory did no work meanwhile, and its leak was "filled
/// once" between two buffers that `malloc` gave.
#[test]
fn a_leak_of_mappings_is_a_suspect() {
    let program = compile("mappings_leak.c", &[]);
    for rate in [&["--rate", "1"][..], &[]] {
        let options = [&["--native", "--mmap"][..], rate].concat();
        let recorded = Case::command(&program.path, &[]).options(&options).recorded();
        let (found, _) = json(&["leaks"], &recorded.recording);
        let suspects = found["suspects"].as_array().expect("a list");
        assert_eq!(suspects.len(), 1, "{found:#}");
        assert_eq!(suspects[0]["allocated"][0]["function"], "leak_map", "{found:#}");
        let (_, code) = json(&["check", "--no-leak", "--recording"], &recorded.recording);
        assert_eq!(code, Some(4), "{found:#}");
    }
}

/// A block that is replaced before the next sample seemed never to be there: "about as much is freed as is added".
#[test]
fn a_mapping_that_grows_is_a_suspect() {
    let program = compile("grows_mapping.c", &[]);
    for seed in ["1", "2", "3"] {
        let options = ["--native", "--mmap", "--seed", seed];
        let recorded = Case::command(&program.path, &[]).options(&options).recorded();
        let (found, _) = json(&["leaks"], &recorded.recording);
        assert_eq!(found["suspects"][0]["allocated"][0]["function"], "grow", "{found:#}");
    }
}
