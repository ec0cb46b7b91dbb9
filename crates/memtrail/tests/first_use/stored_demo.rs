//! `memtrail demo` on a machine without OCaml.

use std::os::unix::fs::PermissionsExt as _;

use super::{NAME, Stored, memtrail, printed, text};

#[test]
fn demo_without_ocaml_shows_a_stored_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = memtrail(folder.path());
    let output = command.arg("demo").env("PATH", folder.path()).output().expect("memtrail starts");
    let said = text(&output.stderr);
    assert!(said.contains("there is no ocamlopt on PATH"), "{said}");
    assert!(said.contains("hint: ") && said.contains("opam"), "{said}");
    let shown = printed(&output);
    for part in [
        "$ memtrail leaks leaks-",
        "Leaks.Session_cache.sessions keeps growing",
        "Leaks.Listeners.subscribed keeps growing",
        "$ memtrail heap roots leaks-",
        "Leaks.Outbox.pending",
        "memtrail view leaks-",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
}

#[test]
fn the_stored_recording_has_the_three_leaks() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["demo", "--recorded", "--json", "-o", NAME];
    let output = memtrail(folder.path()).args(words).output().expect("memtrail starts");
    let answer: serde_json::Value = serde_json::from_str(&printed(&output)).expect("JSON");
    let functions: Vec<_> = answer["findings"]
        .as_array()
        .expect("an array")
        .iter()
        .map(|finding| finding["function"].as_str().expect("a name").to_owned())
        .collect();
    let leaks = ["Leaks.Session_cache.load", "Leaks.Outbox.compose", "Leaks.Connection.open_"];
    assert_eq!(functions, leaks);
    let file = folder.path().join(NAME).join("trace.ctf");
    let mode = std::fs::metadata(file).expect("a trace").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "as of all recordings");
    let again = memtrail(folder.path()).args(words).output().expect("memtrail starts");
    assert_eq!(again.status.code(), Some(1), "a recording is never overwritten");
}

#[test]
fn memtrail_alone_says_what_it_is_and_three_commands() {
    let stored = Stored::unpack();
    let output = stored.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(output.stdout.is_empty() && said.lines().count() <= 12, "{said}");
    for part in [
        "memtrail run -- ",
        "memtrail leaks ",
        "memtrail view ",
        "memtrail --help",
        "memtrail demo",
    ] {
        assert!(said.contains(part), "{part:?} is not in\n{said}");
    }
}
