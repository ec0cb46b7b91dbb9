//! The demo's news server: its three leaks are the suspects, and the same server without them has none.

use std::process::Command;

use memtrail_test_support::compilers;
use memtrail_test_support::contents::{read, recordings_in};
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
    demo_finds_its_three_leaks(&serde_json::from_slice(&output.stdout).unwrap());
    let recordings = recordings_in(folder.path());
    let [recording] = &recordings[..] else { panic!("{recordings:?}") };
    assert!(read(recording).blocks.len() > 10_000);
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

fn demo_finds_its_three_leaks(findings: &serde_json::Value) {
    let found: Vec<_> = findings["findings"].as_array().expect("an array").iter().collect();
    assert_eq!(found.len(), 3);
    let number =
        |finding: &serde_json::Value, field: &str| finding[field].as_f64().expect("a number");
    for (finding, function, variable, bytes, kept, retained) in [
        // 40,000 sessions of 101 words for the history, 4 for the record.
        (
            found[0],
            "Leaks.Session_cache.load",
            "Session_cache.sessions",
            40_000.0 * 106.0 * 8.0,
            1.0,
            34e6..40e6,
        ),
        // 40,000 letters, a third unsent, of 188 words and a header, and 3 words for the record;
        // those sent last may not have been collected yet.
        (
            found[1],
            "Leaks.Outbox.compose",
            "Outbox.pending",
            13_333.0 * 192.0 * 8.0,
            1.0 / 3.0,
            20e6..22e6,
        ),
        // 10,000 buffers of 4 KiB.
        (
            found[2],
            "Leaks.Connection.open_",
            "Listeners.subscribed",
            10_000.0 * 514.0 * 8.0,
            1.0,
            41e6..43e6,
        ),
    ] {
        assert_eq!(finding["function"], function);
        assert!(finding["place"].as_str().is_some_and(|p| p.starts_with("leaks.ml:")), "{finding}");
        let (live, error) = (number(finding, "live_bytes"), number(finding, "live_bytes_stderr"));
        assert!(live > bytes - 5.0 * error, "{finding}");
        assert!(live < bytes * 1.4 + 5.0 * error, "{finding}");
        // All of it hangs from one block below a variable of the module.
        let holder = &finding["retained_by"];
        assert!(retained.contains(&number(holder, "retained")), "{finding}");
        assert_eq!(holder["root"], serde_json::json!(["Leaks", variable]), "{finding}");
        let share = number(finding, "share_kept");
        assert!(share >= kept - 0.1 && share <= kept + 0.15, "{finding}");
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
