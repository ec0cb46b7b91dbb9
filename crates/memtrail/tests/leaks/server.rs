//! The demo's news server: its three leaks are the suspects, and the same server without them has none.

use std::process::Command;

use memtrail_test_support::compilers;
use memtrail_test_support::contents::recordings_in;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;

use crate::{leaks, response, suspects};

#[test]
fn the_demos_three_leaks_are_the_suspects() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.args(["demo", "--json"]).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let recording = &recordings_in(folder.path())[0];
    let found = response(recording);
    let named: Vec<[&str; 4]> = suspects(&found)
        .iter()
        .map(|suspect| {
            let text = |value: &'static str| suspect[value].as_str().unwrap();
            [text("rule"), text("owner"), text("type"), text("next")]
        })
        .collect();
    assert_eq!(named.len(), 3, "{found:#}");
    // Those beyond a limit are not said to be none: "which is little of the heap so far".
    let limited = leaks(recording, &["--json", "--limit", "1"]);
    let limited: serde_json::Value = serde_json::from_slice(&limited.stdout).unwrap();
    assert_eq!((suspects(&limited).len(), &limited["cleared"]), (1, &found["cleared"]));
    for expected in [
        [
            "callback list",
            "Leaks.Listeners.subscribed",
            "(int -> int) list ref",
            "Leaks.Connection.open_",
        ],
        [
            "growing container",
            "Leaks.Session_cache.sessions",
            "(string, session) Hashtbl.t",
            "Leaks.Session_cache.load",
        ],
        [
            "queue that falls behind",
            "Leaks.Outbox.pending",
            "letter Queue.t",
            "Leaks.Outbox.compose",
        ],
    ] {
        assert!(named.contains(&expected), "{named:?}");
    }
    let entries: Vec<u64> = suspects(&found).iter().filter_map(|s| s["entries"].as_u64()).collect();
    assert!(entries.contains(&40_000) && entries.contains(&10_000), "{entries:?}");
    let text = String::from_utf8(leaks(recording, &[]).stdout).unwrap();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in [
        "10,000 closures of Leaks.Connection.open_.(fun) leaks.ml:",
        "owned by Leaks.Listeners.subscribed : (int -> int) list ref (leaks.ml:68): closures are added in \
         Leaks.Listeners.subscribe (leaks.ml:69) and never removed, and each retains what it captured",
        "40,000 values of type Leaks.Session_cache.session",
        "entries are added in Leaks.Session_cache.find (leaks.ml:44) and never removed",
        "elements are added in Leaks.Outbox.post (leaks.ml:57) faster than they are removed",
    ] {
        assert!(flat.contains(sentence), "{sentence:?} is not in\n{text}");
    }
}

fn mended(compiler: &str) {
    let program = build(&compilers::named(compiler), "news_server");
    let case = Case::new(&program, &[]).options(&["--rate", "1e-4", "--snapshot", "exit"]);
    let found = response(&case.recorded().recording);
    assert!(suspects(&found).is_empty(), "{found:#}");
    assert!(!found["cleared"].as_array().unwrap().is_empty(), "{found:#}");
}

on_each!(a_server_without_leaks_has_no_suspect, mended);
