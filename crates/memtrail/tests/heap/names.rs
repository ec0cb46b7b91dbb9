//! What blocks are called beside their tags and sizes: `tests/programs/heap_names.ml`.

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::{build, strip};
use memtrail_test_support::running::{Case, Recorded};
use memtrail_test_support::{on_each, on_each_build};

use crate::answer;

const OPTIONS: [&str; 4] = ["--rate", "1", "--snapshot", "exit"];

/// Kinds of blocks with how many there are, and the identifiers of custom ones.
fn kinds(recorded: &Recorded) -> Vec<(String, u64, Option<String>)> {
    let histogram = answer("histogram", &recorded.recording, &["--limit", "0"]);
    let rows = histogram["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        let identifier = row["identifier"].as_str().map(str::to_owned);
        (row["kind"].as_str().unwrap().to_owned(), row["blocks"].as_u64().unwrap(), identifier)
    })
    .collect()
}

/// How many blocks of a kind there are.
fn blocks(kinds: &[(String, u64, Option<String>)], kind: &str) -> u64 {
    kinds.iter().find(|(known, ..)| known == kind).map_or(0, |(_, blocks, _)| *blocks)
}

on_each!(blocks_are_called_what_they_are, |compiler| {
    let recorded = Case::new(&build(&named(compiler), "heap_names"), &[]).options(&OPTIONS).same();
    let kinds = kinds(&recorded);
    let is = |kind: &str| blocks(&kinds, kind);
    for (kind, count) in [
        ("closure Heap_names.on_order.(fun) heap_names.ml:18:4", 1),
        ("closure Heap_names.on_order.(fun) heap_names.ml:19:4", 1),
        ("closure Heap_names.on_order.(fun) heap_names.ml:19:46", 1),
        ("closure Heap_names.(fun) heap_names.ml:20:4", 1),
        ("closure Heap_names.add heap_names.ml:5", 1),
        ("closure Heap_names.pair heap_names.ml:6", 1),
        ("closure Heap_names.named_counter#name heap_names.ml:53", 1),
        ("~ object of class Heap_names.named_counter", 1),
        ("constructor Heap_names.Closed", 1),
        ("constructor Heap_names.Opened", 1),
        ("ephemeron", 1),
        ("weak array", 1),
        ("`Delivered, 1 argument", 1),
        ("`Sent, 1 argument", 2),
        ("`Nowhere_in_strings, 1 argument", 0),
        ("condition variable", 1),
        ("bigarray", 1),
        ("closure", 0),
        ("custom", 0),
    ] {
        assert_eq!(is(kind), count, "{kind} of {kinds:#?}");
    }
    // The two of the module, and one in the environment of the second.
    assert!(is("partial application of Heap_names.add heap_names.ml:5") >= 2, "{kinds:#?}");
    for (kind, identifier) in
        [("int32", "_i"), ("int64", "_j"), ("nativeint", "_n"), ("channel", "_chan")]
    {
        let found = kinds.iter().find(|(known, ..)| known == kind);
        let (_, blocks, raw) = found.unwrap_or_else(|| panic!("{kind} of {kinds:#?}"));
        assert!(*blocks >= 3 && raw.as_deref() == Some(identifier), "{kind}: {blocks}, {raw:?}");
    }
    for (kind, ..) in &kinds {
        assert!(!kind.contains("code_begin") && !kind.ends_with("Heap_names.fun"), "{kind}");
    }
    // A closure is found without its place, and custom blocks by their identifier.
    for kind in ["closure Heap_names.pair", "custom _condition"] {
        let paths = answer("path", &recorded.recording, &["--kind", kind]);
        assert_eq!(paths["paths"][0]["blocks"], 1, "{kind}: {paths}");
    }
});

// What remains without debuggers' tables: frame descriptors, and symbols that are exported.
on_each!(closures_of_a_stripped_program_have_files_and_lines, |compiler| {
    let program = strip(&build(&named(compiler), "heap_names"));
    let recorded = Case::new(&program, &[]).options(&OPTIONS).same();
    let kinds = kinds(&recorded);
    for (line, functions) in [(18, 1), (19, 2)] {
        let start = format!("closure Heap_names.on_order.(fun) heap_names.ml:{line}:");
        let there = kinds.iter().filter(|(kind, ..)| kind.starts_with(&start)).count();
        assert_eq!(there, functions, "{start} of {kinds:#?}");
    }
    // It neither calls nor allocates: no descriptor tells its line, and its symbol keeps it apart.
    let leaf = "closure Heap_names.(fun ";
    assert!(kinds.iter().any(|(kind, ..)| kind.starts_with(leaf)), "{kinds:#?}");
    for (kind, ..) in kinds.iter().filter(|(kind, ..)| kind.contains("Heap_names")) {
        let is_closure = kind.starts_with("closure") || kind.starts_with("partial application");
        assert!(!is_closure || kind.contains(" heap_names.ml"), "{kind}");
    }
});

// The site was `(no debug information)`: the runtime's code that makes partial applications has none.
on_each_build!(partial_applications_have_a_site, |compiler| {
    let recorded = Case::new(&build(&named(compiler), "heap_names"), &[]).options(&OPTIONS).same();
    for by in ["site", "function"] {
        let sites = answer("sites", &recorded.recording, &["--by", by, "--limit", "0"]);
        let rows = sites["rows"].as_array().unwrap();
        let of =
            |row: &&serde_json::Value| row["name"].as_str() == Some("Heap_names.partial_of_one");
        let found = rows.iter().find(of).unwrap_or_else(|| panic!("{by}: {rows:#?}"));
        assert!(found["blocks"].as_u64().unwrap() >= 2, "{found}");
        for row in rows {
            let name = row["name"].as_str().unwrap_or_default();
            assert!(!name.is_empty() && !name.contains("partial application]"), "{by}: {row}");
        }
    }
});
