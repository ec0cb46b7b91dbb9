//! Answers have the figures of the commands, and lead on.

use std::fs;

use serde_json::{Value, json};

use super::session::{Session, folder, is_part, printed};

const LEAKS: &str = "leaks-4711.memtrail";
const FIXED: &str = "fixed-4718.memtrail";
const NATIVE: &str = "server-4720.memtrail";

/// Calls of tools, and the words of the commands that print the same.
fn pairs() -> Vec<(&'static str, Value, Vec<&'static str>)> {
    vec![
        ("leaks", json!({ "recording": LEAKS }), vec!["leaks", LEAKS]),
        ("leaks", json!({ "recording": NATIVE, "limit": 1 }), vec!["leaks", NATIVE, "--limit=1"]),
        ("report", json!({ "recording": LEAKS }), vec!["report", LEAKS]),
        (
            "report",
            json!({ "recording": NATIVE, "live_at": "end", "by": "function", "limit": "3" }),
            vec!["report", NATIVE, "--live-at=end", "--by=function", "--limit=3"],
        ),
        (
            "report",
            json!({ "recording": LEAKS, "allocated": "10%..90%" }),
            vec!["report", LEAKS, "--allocated=10%..90%"],
        ),
        ("roots", json!({ "recording": LEAKS }), vec!["heap", "roots", LEAKS]),
        (
            "roots",
            json!({ "recording": LEAKS, "name": "Leaks.Session_cache.sessions" }),
            vec!["heap", "roots", LEAKS, "Leaks.Session_cache.sessions"],
        ),
        (
            "roots",
            json!({ "recording": LEAKS, "retained": true, "snapshot": 1 }),
            vec!["heap", "roots", LEAKS, "--retained", "--snapshot=1"],
        ),
        (
            "histogram",
            json!({ "recording": LEAKS, "limit": 0 }),
            vec!["heap", "histogram", LEAKS, "--limit=100"],
        ),
        (
            "histogram",
            json!({ "recording": LEAKS, "find": "list", "offset": 1, "sort": "retained" }),
            vec!["heap", "histogram", LEAKS, "--find=list", "--offset=1", "--sort=retained"],
        ),
        (
            "histogram",
            json!({ "recording": LEAKS, "by": "owner" }),
            vec!["heap", "histogram", LEAKS, "--by=owner"],
        ),
        (
            "why",
            json!({ "recording": LEAKS, "name": "Leaks.Connection.open_" }),
            vec!["why", LEAKS, "Leaks.Connection.open_"],
        ),
        (
            "who",
            json!({ "recording": LEAKS, "name": "Leaks.Session_cache.sessions", "by": "function" }),
            vec!["who", LEAKS, "Leaks.Session_cache.sessions", "--by=function"],
        ),
        (
            "path",
            json!({ "recording": LEAKS, "kind": "string" }),
            vec!["heap", "path", LEAKS, "--kind=string"],
        ),
        (
            "path",
            json!({ "recording": LEAKS, "block": 75348, "all": true }),
            vec!["heap", "path", LEAKS, "--block=75348", "--all"],
        ),
        ("diff", json!({ "before": FIXED, "after": LEAKS }), vec!["diff", FIXED, LEAKS]),
        (
            "diff",
            json!({ "before": FIXED, "after": LEAKS, "by": "module", "filter": ["heap:major"] }),
            vec!["diff", FIXED, LEAKS, "--by=module", "--filter=heap:major"],
        ),
    ]
}

#[test]
fn figures_are_those_of_the_commands() {
    let folder = folder(&[LEAKS, FIXED, NATIVE]);
    let mut session = Session::start(folder.path(), &[]);
    for (tool, arguments, words) in pairs() {
        let answer = session.answer(tool, &arguments);
        let command = printed(folder.path(), &words);
        is_part(&answer["untrusted"], &command, "");
        assert_eq!(answer["untrusted"]["format"], 1, "{tool}");
        // The second call uses what the first one opened.
        assert_eq!(session.answer(tool, &arguments), answer, "{tool} {arguments}");
    }
    assert!(session.close().success());
}

#[test]
fn proposed_calls_succeed() {
    let folder = folder(&[LEAKS, FIXED, NATIVE]);
    let mut session = Session::start(folder.path(), &[]);
    let mut calls: Vec<(String, Value)> = vec![("recordings".to_owned(), json!({}))];
    calls.extend(pairs().into_iter().map(|(tool, arguments, _)| (tool.to_owned(), arguments)));
    let mut followed = Vec::new();
    for (tool, arguments) in calls {
        let answer = session.answer(&tool, &arguments);
        let next = answer["next"].as_array().unwrap();
        assert!((1..=3).contains(&next.len()), "{tool} {arguments}: {next:?}");
        for call in next {
            let (tool, arguments) = (call["tool"].as_str().unwrap(), &call["arguments"]);
            assert!(call["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
            session.answer(tool, arguments);
            followed.push(tool.to_owned());
        }
    }
    for tool in ["leaks", "report", "roots", "histogram", "why", "who", "path", "diff"] {
        assert!(followed.iter().any(|other| other == tool), "nothing leads to {tool}");
    }
}

#[test]
fn recordings_are_listed_with_what_they_have() {
    let folder = folder(&[LEAKS, FIXED, NATIVE]);
    fs::create_dir(folder.path().join("notes")).unwrap();
    let inside = folder.path().join("deep/deeper");
    super::session::copy(&folder.path().join(FIXED), &inside.join("again.memtrail"));
    let mut session = Session::start(folder.path(), &[]);
    let answer = session.answer("recordings", &json!({}));
    let rows = answer["untrusted"]["recordings"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["recording"].as_str().unwrap()).collect();
    assert_eq!(names, [NATIVE, "deep/deeper/again.memtrail", FIXED, LEAKS]);
    let leaks = &rows[3];
    for (field, expected) in [
        ("kind", json!("recording")),
        ("program", json!("leaks")),
        ("pid", json!(4711)),
        ("heap_snapshots", json!(2)),
        ("state", json!("ended")),
        ("runtime", json!("OCaml 4.13")),
        ("started", json!("2026-11-28T13:08:35Z")),
    ] {
        assert_eq!(leaks[field], expected, "{leaks}");
    }
    let one = session.answer("recordings", &json!({ "limit": 1 }));
    assert_eq!(
        (&one["untrusted"]["left_out"], one["untrusted"]["recordings"].as_array().unwrap().len()),
        (&json!(3), 1)
    );
}

#[test]
fn a_damaged_recording_is_answered_as_far_as_it_can_be_read() {
    let folder = folder(&[LEAKS]);
    let recording = folder.path().join(LEAKS);
    let cut = |name: &str, part: usize| {
        let bytes = fs::read(recording.join(name)).unwrap();
        fs::write(recording.join(name), &bytes[..bytes.len() * part / 100]).unwrap();
    };
    let mut session = Session::start(folder.path(), &[]);
    let whole = session.answer("report", &json!({ "recording": LEAKS }));
    cut("trace.ctf", 60);
    // The server reads again what has changed.
    let answer = session.answer("report", &json!({ "recording": LEAKS }));
    assert_ne!(answer, whole);
    is_part(&answer["untrusted"], &printed(folder.path(), &["report", LEAKS]), "");
    let problem = answer["untrusted"]["problems"][0]["error"].as_str().unwrap();
    assert!(problem.contains("trace.ctf is damaged"), "{problem}");
    cut("0002.heap", 50);
    let answer = session.answer("roots", &json!({ "recording": LEAKS }));
    let partial = answer["untrusted"]["partial"].as_str().unwrap();
    assert!(partial.contains("0002.heap is damaged"), "{partial}");
    is_part(&answer["untrusted"], &printed(folder.path(), &["heap", "roots", LEAKS]), "");
    cut("0002.heap", 1);
    let refused = session.refusal("roots", &json!({ "recording": LEAKS }));
    assert!(refused.contains("0002.heap"), "{refused}");
    fs::write(recording.join("trace.ctf"), "no trace").unwrap();
    let refused = session.refusal("leaks", &json!({ "recording": LEAKS }));
    assert!(refused.contains("cannot read"), "{refused}");
    // It goes on.
    session.answer("recordings", &json!({}));
}
