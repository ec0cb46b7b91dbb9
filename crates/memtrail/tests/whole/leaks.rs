//! Leak suspects among the calls of malloc of an OCaml program.

use std::process::Command;

use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build_with;
use memtrail_test_support::running::Case;
use serde_json::Value;

/// What `memtrail leaks` finds: for each suspect its kind and the functions that allocated, and the summary. `check` fails for
/// as many: it did not judge calls of malloc beside a snapshot, and passed.
fn suspects(compiler: &str, options: &[&str]) -> (Vec<(String, Vec<String>)>, String) {
    let program = build_with(&named(compiler), "whole_leaks", &["whole_stubs.c"]);
    let options = [&["--native=also", "--rate", "1"], options].concat();
    let recorded = Case::new(&program, &[]).options(&options).recorded();
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["leaks", "--json"])
        .arg(&recorded.recording)
        .output()
        .expect("memtrail starts");
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let functions = |suspect: &Value| {
        list(&suspect["allocated"]).iter().map(|place| word(&place["function"])).collect()
    };
    let suspects = list(&found["suspects"]);
    let check = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["check", "--no-leak", "--recording"])
        .arg(&recorded.recording)
        .output()
        .expect("memtrail starts");
    assert_eq!(check.status.code(), Some(4), "{check:?}");
    let text = String::from_utf8_lossy(&check.stdout);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&format!("{} leak suspects", suspects.len())), "{text}");
    let conclusion = word(&found["conclusion"]["description"]);
    assert!(text.contains(&conclusion), "{conclusion}: {text}");
    let suspects =
        suspects.iter().map(|suspect| (word(&suspect["kind"]), functions(suspect))).collect();
    (suspects, found["summary"].to_string())
}

/// Those that are call sites, by a function on the path to them.
fn sites<'a>(found: &'a [(String, Vec<String>)], names: &[&'a str]) -> Vec<&'a str> {
    let sites = found.iter().filter(|(kind, _)| kind == "site");
    let name = |functions: &[String]| {
        names.iter().find(|name| functions.iter().any(|function| function == *name)).copied()
    };
    let mut found: Vec<_> = sites.map(|(_, functions)| name(functions).unwrap_or("?")).collect();
    found.sort_unstable();
    found
}

const LEAKS: [&str; 2] = ["Whole_leaks.add_page", "new_entry"];

on_each!(what_a_stub_leaks_is_a_suspect_and_what_it_frees_is_none, |compiler| {
    let (found, summary) = suspects(compiler, &[]);
    assert_eq!(sites(&found, &LEAKS), LEAKS, "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(summary.contains("only memory from malloc was judged"), "{summary}");
});

on_each!(with_snapshots_owners_are_judged_besides, |compiler| {
    let (found, summary) = suspects(compiler, &["--snapshot", "exit"]);
    assert_eq!(sites(&found, &LEAKS), LEAKS, "{found:?}");
    assert!(summary.contains("memory from malloc: "), "{summary}");
    assert!(!summary.contains("only memory from malloc was judged"), "{summary}");
});
