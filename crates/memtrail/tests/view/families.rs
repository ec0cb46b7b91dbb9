//! Families that grow while they are shown.

use std::time::{Duration, Instant};

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
