//! Lines of functions from `.cmt` files, in a program without debuggers' tables, against those tables:
//! `tests/programs/function_lines.ml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memtrail_heap::read::{Function, Snapshot};
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_types::Types;
use serde_json::Value;

use super::flow::typed;
use super::{memtrail, printed};

/// The functions of a recording's closures by symbol, with the lines of their definitions.
fn functions(recording: &Path) -> BTreeMap<String, Function> {
    let types = Types::read(&fs::read(recording.join("types")).unwrap()).unwrap();
    let bytes = fs::read(recording.join("0001.heap")).unwrap();
    let mut snapshot = Snapshot::read(&bytes).unwrap();
    let definitions = memtrail_typeflow::definitions(&snapshot, &types.table);
    snapshot.define(&definitions);
    let functions = snapshot.functions.into_iter();
    functions.map(|one| (String::from_utf8_lossy(&one.symbol).into_owned(), one)).collect()
}

/// A recording of the same program without debuggers' tables.
fn stripped(folder: &Path, compiler: &str) -> PathBuf {
    let (program, recording) = (folder.join("stripped"), folder.join("S"));
    let strip = Command::new("strip").arg("-o").arg(&program).arg(folder.join("program")).status();
    assert!(strip.unwrap().success());
    let words = ["run", "--snapshot", "exit", "-o"].map(AsRef::as_ref);
    let output = memtrail(words.into_iter().chain([recording.as_os_str(), program.as_os_str()]));
    assert!(output.status.success(), "{output:?}");
    let compiler = named(compiler).ocamlopt;
    let words = ["types".as_ref(), recording.as_os_str(), "--compiler".as_ref()];
    printed(words.into_iter().chain([compiler.as_os_str()]));
    recording
}

// A function without a frame descriptor had the lines of its neighbours, whatever its `.cmt` file said.
on_each!(functions_have_the_lines_of_their_definitions, |compiler| {
    let (folder, recording) = typed(compiler, "function_lines.ml", &[]);
    let exact = functions(&recording);
    let recording = stripped(folder.path(), compiler);
    let mut own = 0;
    for (symbol, function) in functions(&recording).iter().filter(|(_, one)| one.is_of_cmt) {
        let known = exact.get(symbol).unwrap_or_else(|| panic!("{symbol}"));
        let (line, known) = (function.line, known.line);
        if symbol.contains("Function_lines") {
            assert_eq!(line, known, "{symbol}");
            own += 1;
        }
        // Functions that result in one without a name are compiled with it, and may have its line.
        assert!(line <= known, "{symbol}: {line} and {known}");
    }
    assert!(own >= 8, "{own} of {:#?}", exact.keys());
    let words = ["heap", "histogram", "--limit", "0", "--json"].map(AsRef::as_ref);
    let histogram = printed(words.into_iter().chain([recording.as_os_str()]));
    let histogram: Value = serde_json::from_str(&histogram).unwrap();
    let name = "closure Function_lines.between function_lines.ml:18";
    let rows = histogram["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["kind"] == name);
    let row = row.unwrap_or_else(|| panic!("{rows:#?}"));
    assert_eq!(row["function"]["derivation"], "cmt", "{row}");
    assert_eq!(row["function"]["line"], 18, "{row}");
});

// They had a file only: the compiler makes them without a place, and describes the module's field.
on_each!(functions_around_externals_have_the_lines_of_these, |compiler| {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let (_folder, recording) = typed(compiler, "function_lines.ml", &[]);
    let library = Command::new(named(compiler).ocamlopt).arg("-where").output().unwrap();
    let library = PathBuf::from(String::from_utf8(library.stdout).unwrap().trim());
    let source = fs::read_to_string(library.join("stdlib.ml")).unwrap();
    let source: Vec<&str> = source.lines().collect();
    let words = ["heap", "histogram", "--limit", "0", "--json"].map(AsRef::as_ref);
    let histogram = printed(words.into_iter().chain([recording.as_os_str()]));
    let histogram: Value = serde_json::from_str(&histogram).unwrap();
    let mut checked = 0;
    for row in histogram["rows"].as_array().unwrap() {
        let kind = row["kind"].as_str().unwrap();
        let Some(named) = kind.strip_prefix("closure Stdlib.(external ") else { continue };
        let (external, _) = named.split_once(')').unwrap();
        let function = &row["function"];
        // Those of `LargeFile` are fields of a module inside.
        if external.ends_with("_64") {
            continue;
        }
        assert_eq!(function["derivation"], "cmt", "{row}");
        let line = function["line"].as_u64().unwrap() as usize;
        // The name of the C function may be in the next line.
        let text = format!("{} {}", source[line - 1], source[line]);
        assert!(text.starts_with("external ") && text.contains(external), "{row}: {text}");
        checked += 1;
    }
    assert!(checked >= 10, "{checked} of {histogram:#}");
});
