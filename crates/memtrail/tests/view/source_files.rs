//! Source files beside recordings, in the served page and in a file.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::View;
use crate::{complaint, fixture, memtrail};

/// A folder that is shown, with the fixture's `cache.ml`, beside one that is not.
fn folders() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("shown/src/cache.ml", "let cached = 1\n"), ("hidden/list.ml", "secret")] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink("../../hidden/list.ml", folder.path().join("shown/src/list.ml"))
        .unwrap();
    folder
}

fn ask(view: &View, file: &str) -> Value {
    let query = json!({ "query": "sourcetext", "file": file });
    Value::Object(view.query(&query.to_string()).header().clone())
}

#[test]
fn only_files_of_the_folders_are_served() {
    let folder = folders();
    let shown = folder.path().join("shown");
    let trace = fixture("cache-v2.ctf");
    let view = View::start([trace.as_os_str(), "--source".as_ref(), shown.as_os_str()]);
    let about = view.query(r#"{"query":"about"}"#);
    assert_eq!(about.header()["sources"], true);
    assert_eq!(about.header()["editor"], "vscode://file{path}:{line}:{column}");
    let cache = ask(&view, "cache.ml");
    assert_eq!(cache["lines"], json!(["let cached = 1"]));
    assert_eq!(cache["name"], "src/cache.ml");
    let path = shown.canonicalize().unwrap().join("src/cache.ml");
    assert_eq!(cache["path"].as_str().map(Path::new), Some(path.as_path()));
    // A link out of the folder; what is in the recording and not in the folder; what is in neither.
    let outside = folder.path().join("hidden/list.ml");
    for file in ["list.ml", "hashtbl.ml", "../hidden/list.ml", outside.to_str().unwrap()] {
        let found = ask(&view, file);
        assert!(found["missing"].is_string(), "{file}: {found}");
        assert_eq!(found["lines"], json!([]));
    }
    view.interrupt();
}

/// Names that others chose lead to no file, and harm nothing.
#[test]
fn hostile_names_of_a_recording_are_only_names() {
    let folder = folders();
    let (trace, shown) = (fixture("hostile-names-v2.ctf"), folder.path().join("shown"));
    let view = View::start([trace.as_os_str(), "--source".as_ref(), shown.as_os_str()]);
    let table = view.query(r#"{"query":"table","by":"file"}"#);
    let rows = table.header()["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let found = ask(&view, row["key"].as_str().unwrap());
        assert!(found["missing"].is_string(), "{found}");
    }
    view.interrupt();
}

#[test]
fn a_file_has_the_sources_that_it_needs_without_their_paths() {
    let folder = folders();
    let html = folder.path().join("out.html");
    let args = |more: &[&str]| -> Vec<std::ffi::OsString> {
        let fixed =
            ["html".into(), fixture("cache-v2.ctf").into(), "-o".into(), html.clone().into()];
        let source = ["--source".into(), folder.path().join("shown").into()];
        fixed.into_iter().chain(source).chain(more.iter().map(Into::into)).collect()
    };
    let output = memtrail(args(&["--json"]));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let written: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(written["source_files"], json!({ "of": 1, "included": 1 }));
    let text = fs::read_to_string(&html).unwrap();
    assert_eq!(text.matches("<script type=\"application/x-memtrail-sources\">").count(), 1);

    // Source text is not redacted.
    let output = memtrail(args(&["--redact"]));
    let (code, said) = complaint(&output);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--redact") && said.contains("--source"), "{said}");
}

#[test]
fn folders_and_editors_that_are_none_are_refused() {
    let folder = folders();
    let shown = folder.path().join("shown").into_os_string().into_string().unwrap();
    let trace = fixture("cache-v2.ctf").into_os_string().into_string().unwrap();
    for (args, exit, part) in [
        (&["--source", "/nowhere/at/all"][..], 3, "cannot read /nowhere/at/all"),
        (&["--source", &shown, "--editor", "vim {path}"], 2, "no address of an editor"),
        (&["--source", &shown, "--editor", "javascript:{path}"], 2, "no editor's address"),
    ] {
        let (code, said) = complaint(&memtrail([&["view", "--no-open", &trace], args].concat()));
        assert_eq!(code, Some(exit), "{said}");
        assert!(said.contains(part), "{said}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["view", "--no-open", &trace, "--source", &shown])
        .env("MEMTRAIL_EDITOR", "vim")
        .output()
        .unwrap();
    let (code, said) = complaint(&output);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("MEMTRAIL_EDITOR: no address"), "{said}");
}
