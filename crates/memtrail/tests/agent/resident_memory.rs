//! The report's table of resident memory adds up, and says what would return it.

use std::collections::BTreeMap;
use std::process::Command;

use memtrail_test_support::compilers::{is_installed, named};
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use serde_json::Value;

const MIB: u64 = 1 << 20;
/// What `memory_parts` uses, or a little less.
const USED: u64 = 46 * MIB;

/// The kernel counts resident pages by processor, and adds a few dozen of each up later.
const COUNTED_LATE: u64 = MIB / 4;

/// What the report has of a program's resident memory.
struct Resident {
    rss: u64,
    rows: BTreeMap<String, u64>,
    remedies: Vec<String>,
    /// Bytes that compaction is predicted to return.
    compaction: u64,
    text: String,
}

impl Resident {
    fn of(&self, part: &str) -> u64 {
        self.rows[part]
    }
}

fn memtrail(words: &[&str], runtime_parameters: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.args(words).env("OCAMLRUNPARAM", runtime_parameters).env("MEMTRAIL_TYPES", "off");
    let output = command.output().expect("memtrail starts");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Records a command, whose parts must add up to what was resident at its end.
fn record(command: &[&str], runtime_parameters: &str) -> Resident {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("r.memtrail");
    let recording = recording.to_str().expect("a plain name");
    memtrail(&[&["run", "-o", recording, "--"], command].concat(), runtime_parameters);
    let report = memtrail(&["report", "--json", recording], "");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let memory = &report["memory"];
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{memory:#}"));
    let (rss, sum) = (number(&memory["rss"]), number(&memory["sum"]));
    assert!(sum.abs_diff(rss) <= rss / 50 + COUNTED_LATE, "{sum} of {rss}: {memory:#}");
    let list = |name: &str| memory[name].as_array().unwrap_or_else(|| panic!("{memory:#}"));
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let rows = list("rows").iter().map(|row| (word(&row["part"]), number(&row["bytes"])));
    let rows: BTreeMap<_, _> = rows.collect();
    assert_eq!(rows.values().sum::<u64>(), sum);
    assert_eq!(list("over_time").last().map(|last| &last["rss"]), Some(&memory["rss"]));
    let compacts = list("advice").iter().find(|advice| advice["remedy"] == "compact");
    Resident {
        compaction: compacts.map_or(0, |of| number(&of["bytes"]) - number(&of["kept"])),
        rss,
        rows,
        remedies: list("advice").iter().map(|advice| word(&advice["remedy"])).collect(),
        text: memtrail(&["report", "--width", "100", recording], ""),
    }
}

fn parts_of(compiler: &str, program: &str, runtime_parameters: &str) -> Resident {
    let built = build(&named(compiler), "memory_parts");
    record(&[built.path.to_str().expect("a plain name"), program], runtime_parameters)
}

fn bigarrays_are_memory_of_mallocs(compiler: &str) {
    let found = parts_of(compiler, "bigarrays", "");
    let used = found.of("malloc-used");
    assert!((USED..=USED + 10 * MIB).contains(&used), "{used} in {}", found.text);
    assert_eq!(found.remedies, Vec::<String>::new(), "{}", found.text);
    assert!(found.text.contains("  malloc, in use\n"), "{}", found.text);
}

fn what_malloc_keeps_is_told_from_what_is_in_use(compiler: &str) {
    let found = parts_of(compiler, "freed", "");
    let (kept, used) = (found.of("malloc-kept"), found.of("malloc-used"));
    assert!(kept >= USED && used <= 8 * MIB, "{kept}, {used} in {}", found.text);
    assert_eq!(found.remedies, ["malloc-trim"], "{}", found.text);
    assert!(found.text.contains("malloc_trim would return up to "), "{}", found.text);
    // Whether there are any is not in the recording.
    assert!(found.text.contains(", perhaps nothing: "), "{}", found.text);
}

fn a_heap_that_has_shrunk_is_mostly_free(compiler: &str) {
    let compacts = if compiler.starts_with("ocaml-5.1") { "later-ocaml" } else { "compact" };
    let found = parts_of(compiler, "shrunk", "");
    let (free, used) = (found.of("major-free"), found.of("major-used"));
    assert!(free >= USED && used <= 24 * MIB, "{free}, {used} in {}", found.text);
    assert_eq!(found.remedies, [compacts], "{}", found.text);
    let found = parts_of(compiler, "shrunk", "o=400");
    // OCaml 4 keeps empty chunks of up to four times what is used.
    let keeps = compacts == "compact" && !compiler.starts_with("ocaml-5");
    let remedies = if keeps { &["space-overhead"][..] } else { &[compacts, "space-overhead"] };
    assert_eq!(found.remedies, remedies, "{}", found.text);
    assert!(found.text.contains("(o=400"), "{}", found.text);
}

/// `Gc.compact` was to return 20.6 MiB of a heap of OCaml 4.13, and returned nothing.
fn compaction_returns_what_is_predicted(compiler: &str) {
    if compiler.starts_with("ocaml-5.1") {
        return;
    }
    for program in ["shrunk", "half"] {
        let before = parts_of(compiler, program, "");
        let after = parts_of(compiler, &format!("{program}-compacted"), "");
        let (predicted, returned) = (before.compaction, before.rss.saturating_sub(after.rss));
        assert!(
            returned.abs_diff(predicted) <= predicted / 4 + 8 * MIB,
            "{program}: {predicted} predicted, {returned} returned\n{}\n{}",
            before.text,
            after.text
        );
    }
}

fn a_heap_that_is_used_needs_nothing(compiler: &str) {
    let found = parts_of(compiler, "live", "o=400");
    assert!(found.of("major-used") >= USED, "{}", found.text);
    assert_eq!(found.remedies, Vec::<String>::new(), "{}", found.text);
}

fn address_space_is_not_resident(compiler: &str) {
    let found = parts_of(compiler, "untouched", "");
    let all = [found.rss, found.of("major-used"), found.of("major-free"), found.of("malloc-used")];
    assert!(all.iter().all(|&bytes| bytes <= USED / 2), "{all:?} in {}", found.text);
}

on_each!(bigarrays_are_counted, bigarrays_are_memory_of_mallocs);
on_each!(freed_memory_is_counted, what_malloc_keeps_is_told_from_what_is_in_use);
on_each!(a_shrunk_heap_is_counted, a_heap_that_has_shrunk_is_mostly_free);
on_each!(compaction_is_predicted, compaction_returns_what_is_predicted);
on_each!(a_used_heap_is_counted, a_heap_that_is_used_needs_nothing);
on_each!(memory_that_is_not_touched_is_not_counted, address_space_is_not_resident);

#[test]
fn programs_of_others_are_explained() {
    let found = record(&["ocamlopt.opt", "-config"], "");
    assert!(found.of("program") > MIB, "{}", found.text);
    assert!(found.text.contains("resident memory "), "{}", found.text);
}

/// It was "other anonymous memory", which `leaks` took for mappings that nobody had recorded.
fn heap_of_ended_domains_is_heap(compiler: &str) {
    let program = build(&named(compiler), "ended_domains");
    let found = record(&[program.path.to_str().expect("a plain name")], "");
    let (used, other) = (found.of("major-used"), found.of("other"));
    assert!(used >= 40 * MIB && other <= 12 * MIB, "{used}, {other} in {}", found.text);
}

#[test]
fn heap_of_ended_domains_is_heap_ocaml_5_3() {
    heap_of_ended_domains_is_heap("ocaml-5.3.0");
}

#[test]
fn heap_of_ended_domains_is_heap_ocaml_5_4() {
    heap_of_ended_domains_is_heap("ocaml-5.4");
}

#[test]
fn heap_of_ended_domains_is_heap_ocaml_5_1() {
    if is_installed("ocaml-5.1.4") {
        heap_of_ended_domains_is_heap("ocaml-5.1.4");
    }
}
