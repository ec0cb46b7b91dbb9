//! Lines of global variables from the code that computes their values, against the definitions in `.cmt` files:
//! `tests/programs/definitions.ml` and Debian's `ocamlopt.opt`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use memtrail_heap::redact::file_name;
use memtrail_heap::{LabelId, VariablePlace, read::Snapshot};
use memtrail_test_support::on_each;
use serde_json::Value;

use super::flow::typed;
use super::printed;

/// A variable: its name, its definition by the `.cmt` file, and its place by the program's code.
struct Variable {
    name: String,
    file: String,
    line: u32,
    place: Option<VariablePlace>,
}

/// The variables of a recording that are defined in a known line.
fn variables(recording: &Path) -> Vec<Variable> {
    let bytes = fs::read(recording.join("0001.heap")).unwrap();
    let snapshot = Snapshot::read(&bytes).unwrap();
    let places: BTreeMap<LabelId, &VariablePlace> = snapshot.labels.places().into_iter().collect();
    let mut words = vec!["heap".as_ref(), "roots".as_ref(), recording.as_os_str()];
    let rest = ["--retained", "--sort", "reachable", "--kind", "global", "--limit", "0", "--json"];
    words.extend(rest.map(std::ffi::OsStr::new));
    let roots: Value = serde_json::from_str(&printed(words)).unwrap();
    let rows = roots["rows"].as_array().unwrap();
    let variable = |row: &Value| {
        let name = row["variable"].as_str()?.to_owned();
        if row["derivation"] != "cmt" {
            // The compiler made it.
            return None;
        }
        let (file, line) = row["position"].as_str()?.rsplit_once(':')?;
        let label = LabelId(u32::try_from(row["label"].as_u64()?).ok()?);
        let place = places.get(&label).copied().cloned();
        Some(Variable { name, file: file.to_owned(), line: line.parse().ok()?, place })
    };
    rows.iter().filter_map(variable).collect()
}

/// Where a place's lines are, as text.
fn shown(variable: &Variable) -> String {
    variable.place.as_ref().map_or_else(String::new, |place| {
        let position = place.position();
        format!("{} {}", position.text, position.derivation)
    })
}

on_each!(values_have_the_lines_of_the_code_that_computes_them, |compiler| {
    let (_folder, recording) = typed(compiler, "definitions.ml", &[]);
    let variables = variables(&recording);
    for (name, expected) in [
        ("table_4", "definitions.ml:4 computed"),
        ("cell_5", "definitions.ml:5 computed"),
        ("call_7", "definitions.ml:9 computed"),
        ("branch_11", "definitions.ml:12-14 computed"),
        ("left_16", "definitions.ml:16 computed"),
        ("right_16", "definitions.ml:16 computed"),
        ("alias_17", ""),
        ("Inner.cell_20", "definitions.ml:20 computed"),
        ("Inner.Words", "definitions.ml:21 computed"),
        ("Inner.words_22", "definitions.ml:22 computed"),
        // Of the functor's application.
        ("of_list", "definitions.ml:25 computed"),
        ("set_27", "definitions.ml:27 computed"),
        ("spilled_28", "definitions.ml:28 computed"),
        ("object_35", "definitions.ml:35 computed"),
        ("generated_7", "other.mly:7 computed"),
    ] {
        let is_it = |one: &&Variable| one.name.strip_prefix("Definitions.") == Some(name);
        let found = variables.iter().find(is_it).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(shown(found), expected, "{name}");
    }
});

/// Lines are within the definitions, and lines between which a variable is defined have its definition.
#[test]
fn no_line_of_ocamlopt_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one.ml"), "let one = List.map succ [ 1 ]\n").unwrap();
    let recording = folder.path().join("R");
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .current_dir(folder.path())
        .args(["run", "--snapshot", "exit", "-o"])
        .args([recording.as_os_str(), "--".as_ref(), "ocamlopt.opt".as_ref()])
        .args(["-c", "one.ml"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    printed(["types".as_ref(), recording.as_os_str()]);
    let variables = variables(&recording);
    let mut definitions: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for one in &variables {
        definitions.entry(&one.file).or_default().insert(one.line);
    }
    let (mut computed, mut between, mut wrong) = (0, 0, Vec::new());
    for one in &variables {
        let Some(place) = &one.place else { continue };
        if file_name(&place.file) != file_name(one.file.as_bytes()) {
            // What a functor gives is defined in the interface of that.
            wrong.extend(
                one.file
                    .strip_suffix(".mli")
                    .is_none()
                    .then(|| format!("{}: {}", one.name, shown(one))),
            );
            continue;
        }
        let (first, last) = (place.lines.first, place.lines.last);
        let behind = definitions[one.file.as_str()].range(one.line + 1..).next();
        let is_right = if place.is_computed {
            computed += 1;
            one.line <= first && behind.is_none_or(|next| last.is_some_and(|last| last < *next))
        } else {
            between += 1;
            first <= one.line && last.is_none_or(|last| one.line <= last)
        };
        if !is_right {
            wrong.push(format!("{} of {}:{}: {}", one.name, one.file, one.line, shown(one)));
        }
    }
    println!("of {} variables {computed} have a line, {between} lines", variables.len());
    assert_eq!(wrong, Vec::<String>::new());
    assert!(computed > 1000 && between > 0, "{computed}, {between}");
}
