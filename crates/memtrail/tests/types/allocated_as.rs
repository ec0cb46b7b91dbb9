//! Types by contents against a derivation that does not depend on contents: the functions that allocated the blocks. The
//! programs are of others, and have no files from which types could be known.

use std::fs;
use std::path::Path;

use memtrail_heap::contents::types_by_contents;
use memtrail_heap::read::Snapshot;
use memtrail_test_support::compilers::cached_program;

use super::sampled_blocks::{SampledBlock, of_one_site, sampled, sampled_blocks};

/// What the names of functions that allocate parts of a structure have in them.
const ALLOCATED_BY: &[(&str, &[&str])] = &[
    // Tables with weak keys have the same record and buckets.
    ("Hashtbl.t", &["Hashtbl", "GenHashTable"]),
    ("Map.t", &["Map"]),
    // The compiler's library, which semgrep has in it: balanced trees with the same four fields.
    ("Set.t", &["Set", "Ident.add", "Ident.mknode"]),
    ("Queue.t", &["Queue"]),
    ("Buffer.t", &["Buffer"]),
];

/// Whether a function may have allocated parts of a structure. Lists and arrays are made everywhere.
fn may_allocate(function: &str, structure: &str) -> bool {
    let known = ALLOCATED_BY.iter().find(|(name, _)| *name == structure);
    known.is_none_or(|(_, functions)| functions.iter().any(|name| function.contains(name)))
}

fn check(folder: &Path, program: &[&str]) {
    let recording = sampled(folder, "3e-2", program);
    let bytes = fs::read(recording.join("0001.heap")).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let types = types_by_contents(&snapshot, 2).unwrap();
    let sampled = sampled_blocks(&recording, &snapshot);
    let (compared, several) = of_one_site(&sampled, &types);
    let typed =
        |block: &SampledBlock| Some((block.function.clone(), types.of(block.block)?.text()));
    let (mut nodes, mut wrong) = (0, Vec::new());
    for (function, ty) in sampled.iter().filter_map(typed) {
        let structure = ty.trim_start_matches("~ ").split(' ').next().unwrap_or_default();
        nodes += usize::from(structure == "Map.t");
        if !may_allocate(&function, structure) {
            wrong.push(format!("{ty} of {function}"));
        }
    }
    println!("{compared} blocks compared, {nodes} nodes of maps; {} wrong", wrong.len());
    assert!(compared > 1000 && nodes > 500, "{compared} {nodes}");
    assert_eq!(several, Vec::<String>::new());
    assert_eq!(wrong, Vec::<String>::new());
}

/// OCaml 5.4.
#[test]
fn semgrep_allocates_structures_where_they_belong() {
    let folder = tempfile::tempdir().unwrap();
    let functions = (0..300).map(|i| {
        format!(
            "def f{i}(a, b):\n    if a == a and {i} < b:\n        return [a, {i}]\n    return a\n"
        )
    });
    fs::write(folder.path().join("big.py"), functions.collect::<String>()).unwrap();
    let rules = "rules:\n- id: same\n  languages: [python]\n  message: same\n  severity: WARNING\n  \
                 pattern: $X == $X\n";
    fs::write(folder.path().join("rules.yaml"), rules).unwrap();
    let program = cached_program("semgrep==1.185.0/semgrep-core");
    let words = ["-rules", "rules.yaml", "-lang", "python", "-j", "1", "big.py"];
    check(folder.path(), &[&[program.to_str().unwrap()][..], &words].concat());
}

/// OCaml 4.14.
#[test]
fn flow_allocates_structures_where_they_belong() {
    let folder = tempfile::tempdir().unwrap();
    let functions = (0..300).map(|i| {
        format!("function f{i}(a, b) {{ var c = {{x: a, y: [b, {i}]}}; return c.x + a; }}\n")
    });
    fs::write(folder.path().join("big.js"), functions.collect::<String>()).unwrap();
    let program = cached_program("flow-bin@0.200.1/flow");
    check(folder.path(), &[program.to_str().unwrap(), "ast", "big.js"]);
}
