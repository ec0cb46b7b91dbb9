//! Windows by each protocol, decoded with the official messages.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::official::{Official, decoded};
use crate::receiver::{Answer, Receiver, Taken};
use crate::recordings::{json, memtrail, recording, ship, status, text};

/// The sums over windows are those of the report.
fn check(path: &Path, windows: &[Official]) {
    let report = json(&["report", "--json", path.to_str().unwrap()]);
    let totals = &report["report"]["totals"];
    let near = |name: &str, figure: i64, expected: &Value| {
        // Each window is rounded for itself.
        let difference = (figure as f64 - expected.as_f64().unwrap()).abs();
        assert!(difference <= windows.len() as f64, "{name}: {figure}, {expected}");
    };
    let sum = |name: &str| windows.iter().map(|window| window.totals[name]).sum();
    near("alloc_space", sum("alloc_space"), &totals["allocated"]["bytes"]);
    near("alloc_objects", sum("alloc_objects"), &totals["allocated"]["blocks"]);
    let last = &windows.last().unwrap().totals;
    near("inuse_space", last["inuse_space"], &totals["live_at_end"]["bytes"]);
    near("inuse_objects", last["inuse_objects"], &totals["live_at_end"]["blocks"]);
}

#[test]
fn push_sends_pprof_as_it_is_defined() {
    let (_folder, path) = recording();
    let receiver = Receiver::start(&[]);
    assert!(ship(&path, &receiver.url, &[]).status.success());
    let received = receiver.received();
    let windows = decoded("pprof", received.iter().map(|one| &one.file[..]));
    assert_eq!(windows.len(), 10);
    check(&path, &windows);
}

#[test]
fn ingest_has_labels_in_its_name_and_a_file_as_its_body() {
    let (_folder, path) = recording();
    let receiver = Receiver::start(&[]);
    let more = ["--protocol", "ingest", "--label", "zone=a,b}", "--service", "my shop"];
    let output = ship(&path, &receiver.url, &more);
    assert!(output.status.success(), "{output:?}");
    let taken = receiver.taken();
    let start = 1_795_871_315;
    for Taken { path, headers, .. } in &taken {
        let expected = "/ingest?name=my_shop%7Bhost_name%3Dserver%2Cprocess_pid%3D4711%2Cservice_name%3Dmy%20shop\
                        %2Czone%3Da_b_%7D";
        assert!(path.starts_with(expected), "{path}");
        assert!(path.ends_with("&format=pprof&spyName=memtrail"), "{path}");
        let seconds = |name: &str| -> u64 {
            let value = path.split('&').find_map(|part| part.strip_prefix(name));
            value.and_then(|value| value.strip_prefix('=')).unwrap().parse().unwrap()
        };
        let (from, until) = (seconds("from"), seconds("until"));
        assert!(from < until && from >= start && until <= start + 3, "{path}");
        // Pyroscope decompresses the file, and not the request.
        assert!(!headers.contains_key("content-encoding"), "{headers:?}");
    }
    let windows = decoded("pprof", taken.iter().map(|one| &one.body[..]));
    assert_eq!(windows.len(), 10);
    check(&path, &windows);
}

#[test]
fn otlp_has_a_profile_for_each_value() {
    let (_folder, path) = recording();
    let rejected = Answer {
        status: 200,
        headers: "content-type: application/x-protobuf\r\n".to_owned(),
        // ExportProfilesServiceResponse { partial_success: { rejected_profiles: 4, error_message: "too old" } }
        body: Some(b"\x0a\x0b\x08\x04\x12\x07too old".to_vec()),
    };
    let empty = Answer { body: Some(Vec::new()), ..rejected.clone() };
    let answers = vec![empty, rejected];
    let receiver = Receiver::serve(TcpListener::bind("127.0.0.1:0").unwrap(), None, answers);
    let output = ship(&path, &receiver.url, &["--experimental-otlp", "--label", "zone=a"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output).contains("4 profiles rejected: too old"), "{output:?}");
    assert_eq!(status(&path)["refused"], 1);
    let taken = receiver.taken();
    for one in &taken {
        assert_eq!(one.path, "/v1development/profiles");
        assert_eq!(one.headers["content-type"], "application/x-protobuf");
    }
    let windows = decoded("otlp", taken.iter().map(|one| &one.body[..]));
    assert_eq!(windows.len(), 10);
    // The receiver kept the window that it said to have rejected.
    check(&path, &windows);
    let attributes: Vec<_> = windows[0].attributes.iter().map(|(k, v)| (k.as_str(), v)).collect();
    let expected = [
        ("host.name", &Value::from("server")),
        ("process.pid", &Value::from(4711)),
        ("service.name", &Value::from("leaks")),
        ("zone", &Value::from("a")),
    ];
    assert_eq!(attributes, expected);
    assert!(windows[0].strings.iter().any(|text| text == "Leaks.Session_cache.load"));
}

/// Two recordings of a program have the same pseudonyms, and none of its names leaves the machine.
#[test]
fn redacted_windows_have_pseudonyms() {
    let (folder, path) = recording();
    let receiver = Receiver::start(&[]);
    let metrics = folder.path().join("m.prom");
    let more = ["--redact", "--once", "--metrics", metrics.to_str().unwrap()];
    let output = ship(&path, &receiver.url, &more);
    assert!(output.status.success(), "{output:?}");
    let received = receiver.received();
    let labels: BTreeSet<&str> = received[0].labels.keys().map(String::as_str).collect();
    assert_eq!(labels, BTreeSet::from(["__delta__", "__name__", "process", "service_name"]));
    let windows = decoded("pprof", received.iter().map(|one| &one.file[..]));
    check(&path, &windows);
    for window in &windows {
        let secrets = ["Leaks", "leaks.ml", "/srv", "Session_cache", "visit"];
        for text in &window.strings {
            assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
        }
        assert!(window.names.iter().any(|name| name == "Stdlib.(^)"), "{:?}", window.names);
        assert!(window.files.iter().all(|file| !file.contains('/')), "{:?}", window.files);
    }
    let key = folder.path().join("ship.key");
    assert_eq!(std::fs::read(&key).unwrap().len(), 32);
    let metrics = std::fs::read_to_string(metrics).unwrap();
    assert!(metrics.contains("owner=\"M") && !metrics.contains("Leaks."), "{metrics}");
    // A later command has the same key, which makes the same names.
    let again = Receiver::start(&[]);
    assert!(ship(&path, &again.url, &["--redact"]).status.success());
    let files = again.received();
    let again = decoded("pprof", files.iter().map(|one| &one.file[..]));
    assert_eq!(again[0].names, windows[0].names);
}

#[test]
fn a_recording_is_exported_into_a_lake_once_it_has_ended() {
    let (folder, path) = recording();
    let lake = folder.path().join("lake");
    let to = format!("dir:{}", lake.display());
    let output = ship(&path, &to, &[]);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output).contains("1 export into"), "{output:?}");
    let files = || {
        let mut find = Command::new("find");
        let list = find.arg(&lake).args(["-name", "*.parquet", "-size", "+0"]).output().unwrap();
        String::from_utf8(list.stdout).unwrap()
    };
    let first = files();
    assert!(first.contains("/live_series/") && first.contains("/suspects/"), "{first}");
    let of = status(&path);
    assert_eq!((&of["windows"], &of["is_over"]), (&1.into(), &true.into()), "{of}");
    // It is over, so nothing is written again.
    assert!(ship(&path, &to, &[]).status.success());
    assert_eq!(status(&path)["windows"], 1);
    let refused = memtrail(&["ship", path.to_str().unwrap(), "--to", "dir:"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert_eq!(files(), first);
}
