//! Names against what variables hold: each string of `tests/programs/named_globals.ml` is its variable's own name
//! and line.

use std::fs;
use std::path::Path;
use std::process::Command;

use memtrail_test_support::snapshot::Heap;
use memtrail_test_support::{compilers, on_each_build};
use serde_json::Value;

use super::{compile, memtrail, printed};

/// A recording with a snapshot at exit, of a program with its files.
pub(super) fn recorded(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let files = ["named_lib.mli", "named_lib.ml", "named_globals.ml"];
    for file in files {
        fs::copy(programs.join(file), folder.path().join(file)).unwrap();
    }
    let arguments: Vec<&str> = ["-w", "-a", "-o", "program"].into_iter().chain(files).collect();
    compile(&compilers::named(name), folder.path(), &arguments);
    let recording = folder.path().join("R");
    let status = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--contents", "--snapshot", "exit", "-o"])
        .args([recording.as_os_str(), "--".as_ref(), folder.path().join("program").as_os_str()])
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    (folder, recording)
}

fn rows(recording: &Path) -> Vec<Value> {
    let words =
        ["heap", "roots", "--limit", "0", "--kind", "global", "--sort", "reachable", "--json"];
    let words = words.iter().map(std::ffi::OsStr::new).chain([recording.as_os_str()]);
    let answer: Value = serde_json::from_str(&printed(words)).unwrap();
    answer["rows"].as_array().unwrap().clone()
}

fn check_truth(name: &str) {
    let (_folder, recording) = recorded(name);
    let before = rows(&recording);
    assert!(before.iter().all(|row| row["variable"].is_null()), "nothing is named yet");
    let has_flambda = compilers::named(name).has_flambda();
    let compiler = compilers::named(name).ocamlopt;
    let words =
        ["types".as_ref(), recording.as_os_str(), "--compiler".as_ref(), compiler.as_os_str()];
    if name == "system" {
        printed(&words[..2]);
    } else {
        printed(words);
    }
    let rows = rows(&recording);
    assert_eq!(rows.len(), before.len());
    let heap = Heap::read(&recording.join("0001.heap"));
    let mut checked = Vec::new();
    for row in &rows {
        let path: Vec<&str> =
            row["path"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let [unit @ ("Named_globals" | "Named_lib"), variable] = path[..] else { continue };
        if row["variable"].is_null() {
            assert!(has_flambda && !variable.starts_with("field "), "{row}");
            check_symbol(&heap, row, variable);
            continue;
        }
        assert_eq!(row["variable"], format!("{unit}.{variable}"));
        if variable == "(method cache)" {
            continue;
        }
        let position = row["position"].as_str().unwrap();
        let (file, line) = position.rsplit_once(':').unwrap();
        assert!(file.starts_with(&unit.to_lowercase()), "{position}");
        // What it holds, if that is a string.
        let Some(text) = text(&heap, row["label"].as_u64().unwrap() as usize) else { continue };
        let plain = variable.split(" (field").next().unwrap();
        if plain == "made" {
            // Its line is that in the functor's body.
            assert_eq!(text, "made@33");
        } else {
            assert_eq!(text, format!("{plain}@{line}"), "{row}");
        }
        assert_eq!(row["type"], "string");
        checked.push(format!("{unit}.{plain}"));
    }
    checked.sort();
    checked.dedup();
    // OCaml 5.1 and later keep what an included structure defines in the unit's block, too.
    let within = checked.iter().position(|name| name == "Named_globals.Within.found");
    let keeps = compilers::named(name).version >= (5, 1);
    assert_eq!(within.map(|place| checked.remove(place)).is_some(), keeps);
    // Blocks of modules have only what they export.
    let expected = if has_flambda { "exported_names" } else { "check_truth" };
    insta::allow_duplicates! { insta::assert_snapshot!(expected, checked.join("\n")) };
    // A block's retaining path has the variable, too.
    let label = rows.iter().find(|row| row["variable"] == "Named_globals.plain").unwrap();
    let path = &heap.labels[label["label"].as_u64().unwrap() as usize];
    let held = heap.roots.iter().find(|root| root.path == *path).unwrap().block.to_string();
    let block = printed(["heap".as_ref(), "block".as_ref(), recording.as_os_str(), held.as_ref()]);
    assert!(
        block.lines().any(|line| line.contains(" plain : string  named_globals.ml:")),
        "{block}"
    );
    // A variable or module that has a symbol is no unit.
    let symbols = ["Named_globals.Made", "Named_globals.Pmakeblock"];
    assert!(rows.iter().all(|row| symbols.iter().all(|symbol| row["path"][0] != *symbol)));
    // Every field has a name, those without a string as well.
    assert!(rows.iter().all(|row| {
        let path = row["path"].as_array().unwrap();
        let is_field = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("field "));
        path.len() != 2 || !row["variable"].is_null() || has_flambda && !is_field(&path[1])
    }));
}
on_each_build!(truth, check_truth);

/// What flambda computes has a symbol with the variable's name, or with that of the operation if there is no variable.
fn check_symbol(heap: &Heap, row: &Value, symbol: &str) {
    let Some(text) = text(heap, row["label"].as_u64().unwrap() as usize) else { return };
    let variable = symbol.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    let made_by_compiler =
        ["Pmakeblock", "Pmakeblock_arg", "Pccall", "apply_funct", "apply_arg"].contains(&variable);
    let (told, _) = text.split_once('@').unwrap();
    let expected = match told {
        ">>=" => "kept",
        "first_class" => "packed",
        path => path.rsplit('.').next().unwrap(),
    };
    assert!(made_by_compiler || variable == expected, "{symbol}: {text}");
}

/// The string that a label's root holds itself.
fn text(heap: &Heap, label: usize) -> Option<String> {
    let path = heap.labels.get(label)?;
    let root = heap.roots.iter().find(|root| root.path == *path)?;
    heap.strings.get(&root.block).map(|text| String::from_utf8_lossy(text).into_owned())
}

/// Names of another build are not used where blocks have other sizes, and damaged ones are reported.
#[test]
fn stored_names_that_do_not_fit() {
    let (folder, recording) = recorded("system");
    let roots = || memtrail(["heap".as_ref(), "roots".as_ref(), recording.as_os_str()]);
    let stored = recording.join("types");
    fs::write(&stored, "damaged").unwrap();
    let output = roots();
    assert_eq!(output.status.code(), Some(3));
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(reported.contains("types: at byte 0: not a file of types\nhint: "), "{reported}");
    let rows_with_numbers = String::from_utf8(output.stdout).unwrap();
    assert!(rows_with_numbers.contains("field "), "the snapshot is read: {rows_with_numbers}");
    // Names of a program with one variable more in each unit.
    for file in ["named_lib.ml", "named_globals.ml"] {
        let path = folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("let added = ref 0\n{text}")).unwrap();
    }
    let files = ["named_lib.mli", "named_lib.ml", "named_globals.ml"];
    let arguments: Vec<&str> = ["-w", "-a", "-o", "other"].into_iter().chain(files).collect();
    compile(&compilers::named("system"), folder.path(), &arguments);
    let other = folder.path().join("other");
    let types = ["types".as_ref(), recording.as_os_str(), "--program".as_ref(), other.as_os_str()];
    let refused = memtrail(types);
    assert_eq!(refused.status.code(), Some(3), "the build id differs: {refused:?}");
    // The same without build ids.
    let description = recording.join("recording.json");
    let text = fs::read_to_string(&description).unwrap();
    let mut json: Value = serde_json::from_str(&text).unwrap();
    json.as_object_mut().unwrap().remove("build_id").expect("a build id");
    fs::write(&description, json.to_string()).unwrap();
    printed(types);
    let rows = rows(&recording);
    assert!(rows.iter().any(|row| row["variable"] == "Stdlib.stdout"));
    let ours = |row: &&Value| row["path"][0].as_str().unwrap_or("").starts_with("Named_");
    assert!(rows.iter().filter(ours).all(|row| row["variable"].is_null()));
}
