//! Windows of stored recordings: none is lost, none is sent twice, and their sums are those of `report`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::receiver::{Received, Receiver};
use crate::recordings::{LEAKS, SERVER, folder, json, recording, ship, status, text};

/// All windows came, each once, one behind the other, and their sums are those of the report.
pub(crate) fn check_totals(path: &Path, received: &[Received]) {
    let report = json(&["report", "--json", path.to_str().unwrap()]);
    let totals = &report["report"]["totals"];
    let sum = |name: &str| received.iter().map(|one| one.totals()[name]).sum::<i64>() as f64;
    let near = |name: &str, figure: f64, expected: &Value| {
        let difference = (figure - expected.as_f64().unwrap()).abs();
        // Each window is rounded for itself.
        assert!(difference <= received.len() as f64, "{name}: {figure}, {expected}");
    };
    near("alloc_space", sum("alloc_space"), &totals["allocated"]["bytes"]);
    near("alloc_objects", sum("alloc_objects"), &totals["allocated"]["blocks"]);
    let last = received.last().unwrap().totals();
    near("inuse_space", last["inuse_space"] as f64, &totals["live_at_end"]["bytes"]);
    near("inuse_objects", last["inuse_objects"] as f64, &totals["live_at_end"]["blocks"]);
    let ids: BTreeSet<&str> = received.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids.len(), received.len());
    for pair in received.windows(2) {
        let end = pair[0].profile.time_nanos + pair[0].profile.duration_nanos;
        assert!(end < pair[1].profile.time_nanos, "{end}");
    }
}

#[test]
fn windows_add_up_to_the_report() {
    let (_folder, path) = recording();
    let receiver = Receiver::start(&[]);
    let more = ["--label", "zone=a", "--tenant", "team", "--service", "shop"];
    let output = ship(&path, &receiver.url, &more);
    assert!(output.status.success(), "{output:?}");
    let received = receiver.received();
    assert_eq!(received.len(), 10);
    check_totals(&path, &received);
    for one in &received {
        let expected = [
            ("__delta__", "false"),
            ("__name__", "memory"),
            ("host_name", "server"),
            ("process_pid", "4711"),
            ("service_name", "shop"),
            ("zone", "a"),
        ];
        let labels: Vec<_> = one.labels.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(labels, expected);
        assert_eq!(one.tenant.as_deref(), Some("team"));
    }
    assert!(ship(&path, &receiver.url, &[]).status.success());
    assert_eq!(receiver.received().len(), 10, "nothing is sent twice");
    assert_eq!(status(&path)["is_over"], true);
}

#[test]
fn an_interrupted_command_goes_on_where_it_was() {
    let (_folder, path) = recording();
    let receiver = Receiver::start(&[(200, ""), (200, ""), (200, ""), (503, "")]);
    let output = ship(&path, &receiver.url, &["--once"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(receiver.received().len(), 3);
    let of = status(&path);
    assert_eq!((&of["windows"], &of["is_over"]), (&3.into(), &false.into()), "{of}");
    assert!(of["waiting"].as_u64() > Some(6), "{of}");
    // A trace that was thinned meanwhile is another file: it is read again, and shipped windows stay.
    let trace = path.join("trace.ctf");
    fs::copy(&trace, path.join("copy")).unwrap();
    fs::rename(path.join("copy"), &trace).unwrap();
    let output = ship(&path, &receiver.url, &["--once"]);
    assert!(output.status.success(), "{output:?}");
    check_totals(&path, &receiver.received());
}

#[test]
fn faults_that_pass_are_tried_again_and_others_are_not() {
    let (_folder, path) = recording();
    let faults =
        [(500, ""), (429, "retry-after: 0\r\n"), (408, ""), (200, ""), (400, ""), (503, "")];
    let receiver = Receiver::start(&faults);
    let output = ship(&path, &receiver.url, &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output).contains("refused 1 of the windows"), "{output:?}");
    assert_eq!(receiver.received().len(), 9);
    let of = status(&path);
    assert_eq!((&of["windows"], &of["refused"]), (&9.into(), &1.into()), "{of}");
}

#[test]
fn without_a_network_windows_wait() {
    let (_folder, path) = recording();
    for url in ["http://127.0.0.1:9", "http://nowhere.invalid"] {
        let output = ship(&path, url, &["--once"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = text(&output);
        assert!(said.contains("windows wait in the recording") && said.contains("hint:"), "{said}");
    }
}

#[test]
fn secrets_come_from_files_and_are_never_printed() {
    let (folder, path) = recording();
    let file = folder.path().join("secret");
    fs::write(&file, "basic ali:sesame\n").unwrap();
    let auth = ["--auth-file", file.to_str().unwrap()];
    let receiver = Receiver::start(&[(400, ""), (503, "")]);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let output = ship(&path, &receiver.url, &auth);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output).contains("hint: chmod 600"), "{output:?}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let output = ship(&path, &receiver.url, &auth);
    let header = receiver.received()[0].authorization.clone();
    assert_eq!(header.as_deref(), Some("Basic YWxpOnNlc2FtZQ=="));
    let elsewhere = ship(&path, "http://192.0.2.1", &auth);
    assert!(text(&elsewhere).contains("unencrypted"), "{elsewhere:?}");
    let in_address = ship(&path, "http://ali:sesame@127.0.0.1:9", &[]);
    assert_eq!(in_address.status.code(), Some(2));
    let state = status(&path).to_string();
    assert!(state.contains("[secret]"), "{state}");
    for said in [text(&output), text(&elsewhere), text(&in_address), state] {
        assert!(!said.contains("sesame") && !said.contains("YWxpOnNlc2FtZQ"), "{said}");
    }
}

#[test]
fn a_damaged_recording_of_a_folder_is_named_and_the_others_are_shipped() {
    let folder = folder(&[LEAKS, SERVER]);
    fs::write(folder.path().join(SERVER).join("trace.ctf"), "nonsense").unwrap();
    let receiver = Receiver::start(&[]);
    let output = ship(folder.path(), &receiver.url, &["--once"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(text(&output).contains("server-4720.memtrail is not shipped"), "{output:?}");
    check_totals(&folder.path().join(LEAKS), &receiver.received());
}

/// The wall clock was set back by a year after the recording began, and the program still runs.
#[test]
fn windows_do_not_depend_on_the_wall_clock() {
    let (_folder, path) = recording();
    let file = path.join("recording.json");
    let mut description: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    description["trace"]["state"] = "growing".into();
    description["host"] = "elsewhere".into();
    description["clock"]["start_unix_us"] = 1_827_407_315_226_860_u64.into();
    description.as_object_mut().unwrap().remove("ended_unix_us");
    fs::write(&file, description.to_string()).unwrap();
    let receiver = Receiver::start(&[]);
    let output = ship(&path, &receiver.url, &["--once"]);
    assert!(output.status.success(), "{output:?}");
    assert!(receiver.received().is_empty(), "the trace is not known to be settled yet");
    description["trace"]["state"] = "complete".into();
    fs::write(&file, description.to_string()).unwrap();
    assert!(ship(&path, &receiver.url, &["--once"]).status.success());
    check_totals(&path, &receiver.received());
}
