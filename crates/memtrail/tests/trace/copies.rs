//! Traces made of traces.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::{complaint, printed, trace};

fn room() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.ctf");
    (folder, path)
}

fn info(path: &Path) -> Value {
    let text = printed(["info".as_ref(), "--json".as_ref(), path.as_os_str()]);
    serde_json::from_str(&text).unwrap()
}

fn subsample(from: &str, to: &Path, rest: &[&str]) {
    let args = [&["subsample", from, to.to_str().unwrap()], rest].concat();
    assert_eq!(printed(args), "");
}

/// All events, without the numbers of the blocks and the common prefixes.
fn events(path: &Path) -> Vec<Value> {
    let text = printed(["dump".as_ref(), "--json".as_ref(), path.as_os_str()]);
    let mut events: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &mut events {
        event["block"].take();
    }
    events
}

#[test]
fn a_factor_of_one_keeps_everything() {
    for name in ["cache-v2.ctf", "lists_and_sets-v1.ctf", "domains-v3.ctf"] {
        let (_folder, path) = room();
        subsample(name, &path, &["1"]);
        assert_eq!(events(&path), events(&crate::fixtures().join(name)), "{name}");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else left");
    }
}

#[test]
fn fewer_samples_stand_for_as_much() {
    let (_folder, path) = room();
    subsample("cache-v2.ctf", &path, &["10"]);
    let (old, new) = (info(&crate::fixtures().join("cache-v2.ctf")), info(&path));
    let rates = new["sample_rate"].as_f64().unwrap() / old["sample_rate"].as_f64().unwrap();
    assert!((rates - 0.1).abs() < 1e-12, "{rates}");
    // 7,033 blocks with a chance of a tenth each: 703 of them, give or take five times 25.
    let blocks = new["blocks_sampled"].as_f64().unwrap();
    assert!((703.0 - blocks).abs() < 126.0, "{blocks}");
    let ratio = new["minor_allocated"].as_f64().unwrap() / old["minor_allocated"].as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 0.18, "{ratio}");
    assert_eq!(old["program"], new["program"]);
}

#[test]
fn equal_seeds_keep_equal_samples() {
    let (_folder, path) = room();
    let with = |seed| {
        subsample("cache-v2.ctf", &path, &["3", "--seed", seed]);
        fs::read(&path).unwrap()
    };
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
}

#[test]
fn a_window_keeps_what_was_allocated_in_it() {
    let (_folder, path) = room();
    subsample("cache-v2.ctf", &path, &["1", "--from", "0.1", "--to", "0.3"]);
    let inside = |event: &Value| (100_000..300_000).contains(&event["time_us"].as_u64().unwrap());
    let all = events(&crate::fixtures().join("cache-v2.ctf"));
    let expected: Vec<&Value> =
        all.iter().filter(|event| event["event"] == "alloc" && inside(event)).collect();
    let read = events(&path);
    let read: Vec<&Value> = read.iter().filter(|event| event["event"] == "alloc").collect();
    assert!(!expected.is_empty());
    assert_eq!(read, expected);
}

#[test]
fn a_stripped_trace_names_nothing() {
    let (_folder, path) = room();
    assert_eq!(printed(["strip", "cache-v2.ctf", path.to_str().unwrap()]), "");
    let bytes = fs::read(&path).unwrap();
    for word in [&b"cache"[..], b"Stdlib", b".ml"] {
        assert!(!bytes.windows(word.len()).any(|window| window == word), "{word:?}");
    }
    let mut expected = events(&crate::fixtures().join("cache-v2.ctf"));
    for event in &mut expected {
        if event["event"] == "alloc" {
            event["stack"] = Value::Array(Vec::new());
        }
    }
    assert_eq!(events(&path), expected);
    let info = info(&path);
    assert_eq!((&info["program"], &info["host"]), (&"<anonymous>".into(), &"<anonymous>".into()));
    assert_eq!(
        (info["pid"].as_u64(), info["started"].as_str()),
        (Some(0), Some("1970-01-01T00:00:00Z"))
    );
}

#[test]
fn what_was_written_is_said_in_json() {
    let (_folder, path) = room();
    let out = path.to_str().unwrap();
    let said: Value =
        serde_json::from_str(&printed(["strip", "--json", "cache-v2.ctf", out])).unwrap();
    assert_eq!(said["blocks"], 7033);
    let said: Value =
        serde_json::from_str(&printed(["subsample", "--json", "cache-v2.ctf", out, "2"])).unwrap();
    assert_eq!(said["blocks"].as_u64().unwrap() + said["dropped"].as_u64().unwrap(), 7033);
}

#[test]
fn json_names_an_output_that_is_not_utf_8() {
    use std::os::unix::ffi::OsStrExt as _;

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join(std::ffi::OsStr::from_bytes(b"out-\xff.ctf"));
    let args = ["strip".as_ref(), "--json".as_ref(), "cache-v2.ctf".as_ref(), out.as_os_str()];
    let said: Value = serde_json::from_str(&printed(args)).unwrap();
    assert!(said["output"].as_str().unwrap().ends_with("out-\u{fffd}.ctf"), "{said}");
    assert!(!events(&out).is_empty());
}

#[test]
fn outputs_that_cannot_be_written() {
    for out in ["/nowhere/out.ctf", "/dev/full"] {
        let (code, message) = complaint(&trace(["strip", "cache-v2.ctf", out]));
        assert_eq!(code, Some(1), "{message}");
        assert!(message.contains(out), "{message}");
    }
}

#[test]
fn a_pipe_takes_a_trace() {
    let output = trace(["strip", "cache-v2.ctf", "/dev/stdout"]);
    let (_folder, path) = room();
    printed(["strip", "cache-v2.ctf", path.to_str().unwrap()]);
    assert_eq!(output.stdout, fs::read(&path).unwrap());
}

#[test]
fn a_damaged_trace_is_copied_as_far_as_it_goes() {
    let (folder, path) = room();
    let cut = folder.path().join("cut.ctf");
    let whole = fs::read(crate::fixtures().join("cache-v2.ctf")).unwrap();
    fs::write(&cut, &whole[..whole.len() - 1_000]).unwrap();
    let (code, message) = complaint(&trace(["strip".as_ref(), cut.as_os_str(), path.as_os_str()]));
    assert_eq!(code, Some(3), "{message}");
    assert!(events(&path).len() > 13_000);
}
