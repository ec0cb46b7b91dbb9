//! What was stored in a recording is there when the program is not: the demo removes its own.

use std::process::Command;

use memtrail_test_support::contents::recordings_in;

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
    // The submodule's block refers to the table, too: by itself the variable retains nothing.
    let words = ["heap".as_ref(), "roots".as_ref(), recording.as_os_str()];
    let more = ["Session_cache.sessions".as_ref(), "--width".as_ref(), "120".as_ref()];
    let text = printed(words.into_iter().chain(more));
    assert!(text.contains("Leaks.Session_cache.sessions : (string, session) Hashtbl.t"), "{text}");
}
