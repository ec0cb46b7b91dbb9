//! What was stored in a recording is there when the program is not: the demo removes its own.

use std::path::Path;
use std::process::Command;

use memtrail_test_support::contents::recordings_in;
use serde_json::Value;

use super::printed;

#[test]
fn names_are_printed_without_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["demo", "--json"])
        .current_dir(folder.path())
        .output()
        .expect("memtrail starts");
    assert!(demo.status.success(), "{demo:?}");
    let recording = &recordings_in(folder.path())[0];
    let words = ["types".as_ref(), recording.as_os_str(), "--unit".as_ref(), "Leaks".as_ref()];
    let text = printed(words);
    assert!(text.contains("Session_cache.sessions : (string, session) Hashtbl.t"), "{text}");
    let words = ["heap".as_ref(), "roots".as_ref(), recording.as_os_str()];
    let more = ["Session_cache.sessions".as_ref(), "--width".as_ref(), "120".as_ref()];
    let text = printed(words.into_iter().chain(more));
    assert!(text.contains("Leaks.Session_cache.sessions : (string, session) Hashtbl.t"), "{text}");
    assert!(text.contains("also: Leaks.Session_cache\n"), "{text}");
    each_leak_is_one_row(recording);
}

/// The submodule's block refers to each variable, too: the variable owns what both reach.
fn each_leak_is_one_row(recording: &Path) {
    let words = ["heap".as_ref(), "roots".as_ref(), recording.as_os_str(), "--json".as_ref()];
    let roots: Value = serde_json::from_str(&printed(words)).unwrap();
    let rows = roots["rows"].as_array().unwrap();
    for (row, variable) in rows.iter().zip(["Listeners.subscribed", "Session_cache.sessions"]) {
        assert_eq!(row["variable"], format!("Leaks.{variable}"));
        let (module, _) = variable.split_once('.').unwrap();
        assert_eq!(row["aliases"], serde_json::json!([format!("Leaks.{module}")]));
        assert!(row["share"].as_f64().unwrap() > 0.3, "{row}");
        assert_eq!(row["owned"], row["retained"]);
    }
    let size = |row: &Value| row["owned"].as_u64().unwrap();
    let sum = rows.iter().map(size).sum::<u64>() + roots["left_out_owned"].as_u64().unwrap();
    assert_eq!(sum, size(&roots));
}
