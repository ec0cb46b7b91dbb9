//! What refers to memory from malloc of an OCaml program: values of its heap, C's variables, garbage, nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build_with;
use memtrail_test_support::running::Case;
use serde_json::Value;

const OPTIONS: [&str; 5] = ["--native=also", "--rate", "1", "--snapshot", "exit"];

fn recorded(compiler: &str) -> memtrail_test_support::running::Recorded {
    let program = build_with(&named(compiler), "whole_references", &["whole_references_stubs.c"]);
    Case::new(&program, &[]).options(&OPTIONS).same()
}

fn json(arguments: &[&str], recording: &Path, name: Option<&str>) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(arguments)
        .arg("--json")
        .arg(recording)
        .args(name)
        .output()
        .expect("memtrail starts");
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Unreachable blocks, by the functions that called `filled`.
pub(crate) fn unreachable(recording: &Path) -> BTreeMap<String, u64> {
    let found = json(&["leaks", "--limit", "0"], recording, None);
    let sites = found["unreachable"]["sites"].as_array().unwrap().iter();
    sites
        .map(|site| {
            let function = site["allocated"][1]["function"].as_str().unwrap_or("?").to_owned();
            (function, site["unreachable"]["sampled"].as_u64().unwrap())
        })
        .collect()
}

/// How many blocks that a function allocated are reached by which paths.
pub(crate) fn paths(recording: &Path, function: &str) -> Vec<(u64, Vec<String>)> {
    let found = json(&["why", "--limit", "0"], recording, Some(function));
    let paths = found["malloc"]["paths"].as_array().unwrap().iter();
    paths
        .map(|path| {
            let steps = serde_json::from_value(path["steps"].clone()).unwrap();
            (path["blocks"]["sampled"].as_u64().unwrap(), steps)
        })
        .collect()
}

on_each!(what_values_of_the_heap_refer_to_is_reachable, |compiler| {
    let recorded = recorded(compiler);
    let leaked = unreachable(&recorded.recording);
    // What the program's last calls left on the stack counts as a reference.
    let lost = leaked.get("of_nobody").copied().unwrap_or(0);
    assert!((97..=100).contains(&lost), "{leaked:?}");
    for function in ["of_handle", "behind_handle", "of_pointer", "of_table"] {
        assert!(!leaked.contains_key(function), "{leaked:?}");
    }
});

on_each!(what_refers_to_memory_from_malloc_is_a_value_of_ocaml, |compiler| {
    let recorded = recorded(compiler);
    let of_handle = paths(&recorded.recording, "of_handle");
    let through = |text: &str, found: &[(u64, Vec<String>)]| {
        let some = found.iter().filter(|(_, steps)| steps.join(" / ").contains(text));
        some.map(|(count, _)| count).sum::<u64>()
    };
    // Of what is garbage, an address may be left on the stack.
    let retained = through("Whole_references", &of_handle);
    assert!((30..=32).contains(&retained), "{of_handle:?}");
    assert!(of_handle[0].1.last().unwrap().contains("custom memtrail.handle"), "{of_handle:?}");
    let garbage = through("garbage of OCaml's heap: custom memtrail.handle", &of_handle);
    assert!(garbage <= 25 && garbage + retained >= 30, "{of_handle:?}");
    let behind = paths(&recorded.recording, "behind_handle");
    assert!(behind[0].1.last().unwrap().starts_with("block allocated in filled"), "{behind:?}");
    let of_pointer = paths(&recorded.recording, "of_pointer");
    assert_eq!(through("Whole_references", &of_pointer), 20, "{of_pointer:?}");
    let of_table = paths(&recorded.recording, "of_table");
    assert_eq!(through("variable table", &of_table), 40, "{of_table:?}");
});

on_each!(with_snapshots_of_the_heap_both_are_shown, |compiler| {
    let recorded = recorded(compiler);
    let found = json(&["why"], &recorded.recording, Some("add_page"));
    assert_eq!(found["malloc"]["alive"]["sampled"], 10, "{found:#}");
    assert_eq!(found["malloc"]["unreachable"]["sampled"], 0, "{found:#}");
    // Memory from malloc is not missing in the snapshot of the heap.
    assert_eq!(found["coverage"]["not_found"], 0, "{found:#}");
});
