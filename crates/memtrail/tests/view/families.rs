//! Families in the page: while they grow, and their leak suspects.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use serde_json::Value;

use super::client::View;
use super::watched::Watched;

/// How long anything is waited for, before its absence is a failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// The recordings of the page, when they are as wanted.
fn wait(view: &View, what: &str, is_there: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let started = Instant::now();
    loop {
        let about = view.query(r#"{"query":"about"}"#);
        let recordings = about.header()["recordings"].as_array().expect("recordings").clone();
        if is_there(&recordings) {
            return recordings;
        }
        assert!(started.elapsed() < PATIENCE, "no {what}: {recordings:#?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Bytes that a recording allocated, by its estimate.
fn allocated(recording: &Value) -> f64 {
    recording["totals"]["allocated"]["value"].as_f64().unwrap_or_else(|| panic!("{recording:#}"))
}

#[test]
fn processes_that_begin_later_are_shown_and_counted_once() {
    let mut program = Watched::start_family("system");
    let view = View::start([program.recording.to_str().expect("UTF-8")]);
    let mib = f64::from(1 << 20);
    let recordings = wait(&view, "8 MiB", |recordings| {
        recordings.len() == 2 && recordings.iter().all(|one| allocated(one) > 7.0 * mib)
    });
    assert_eq!(recordings[0]["name"], "it.family");
    assert_eq!(recordings[0]["state"], "growing");
    let (version, _) = view.events(None);

    let child = program.fork();
    let recordings = wait(&view, "16 MiB more", |recordings| {
        recordings.len() == 3 && allocated(&recordings[0]) > 23.0 * mib
    });
    let name = recordings[2]["name"].as_str().expect("a name");
    assert!(name.contains(&child), "{name}");
    let (_, events) = view.events(Some(version));
    assert!(events.iter().any(|event| event["kind"] == "added" && event["rec"] == 2), "{events:?}");
    // Nothing more is allocated: the sum is that of both.
    let sum = allocated(&recordings[1]) + allocated(&recordings[2]);
    assert!((allocated(&recordings[0]) - sum).abs() < 0.5 * mib, "{recordings:#?}");

    program.end_child();
    program.end();
    wait(&view, "the end", |recordings| recordings.iter().all(|one| one["state"] == "ended"));
}

/// Suspects by process: heading, owner and what the process is called.
fn suspects(of: &Value, process: impl Fn(&Value) -> String) -> Vec<(String, String, String)> {
    let text = |suspect: &Value, name: &str| suspect[name].as_str().expect("a text").to_owned();
    let suspects = of["suspects"].as_array().unwrap_or_else(|| panic!("{of:#}"));
    let suspects = suspects.iter();
    suspects.map(|one| (process(one), text(one, "heading"), text(one, "owner"))).collect()
}

/// The first page of a family had no suspects: those of each process had to be looked for one by one.
#[test]
fn a_family_has_the_leak_suspects_of_all_its_processes() {
    let options = ["--rate", "1e-3", "--children", "--snapshot", "exit"];
    let case = Case::new(&build(&named("system"), "leaking_family"), &[]).options(&options);
    let (seen, recordings) = case.recorded_in_folder();
    assert!(seen.status.success() && recordings.len() == 2, "{seen:?}");
    let family = recordings[0].parent().and_then(Path::to_str).expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let listed = command.args(["leaks", "--json", family]).output().expect("memtrail starts");
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let folder = |suspect: &Value| {
        let name = suspect["recording"].as_str().and_then(|path| path.rsplit('/').next());
        name.and_then(|name| name.strip_suffix(".memtrail")).expect("a recording").to_owned()
    };
    let expected = suspects(&listed, folder);
    assert_eq!(expected.len(), 2, "{listed:#}");

    let view = View::start([family]);
    let about = view.query(r#"{"query":"about"}"#);
    let recordings = about.header()["recordings"].as_array().expect("recordings").clone();
    assert_eq!(recordings[0]["members"], serde_json::json!([1, 2]));
    assert_eq!(recordings[1]["members"], serde_json::json!([]));
    let started = Instant::now();
    let found = loop {
        let answer = view.query(r#"{"query":"familyleaks","rec":0,"limit":10}"#);
        let answer = Value::Object(answer.header().clone());
        if answer.get("analysing").is_none() {
            break answer;
        }
        assert!(started.elapsed() < PATIENCE, "{answer:#}");
        std::thread::sleep(Duration::from_millis(100));
    };
    let process = |suspect: &Value| suspect["process"].as_str().expect("a name").to_owned();
    assert_eq!(suspects(&found, process), expected);
    let rec = |of: &Value| of["rec"].as_u64().expect("a number");
    let processes = found["processes"].as_array().expect("processes");
    assert_eq!(processes.iter().map(rec).collect::<Vec<_>>(), [1, 2]);
    for suspect in found["suspects"].as_array().expect("suspects") {
        let name = recordings[rec(suspect) as usize]["name"].as_str().expect("a name");
        assert!(name.starts_with(&process(suspect)), "{name}");
    }
}
