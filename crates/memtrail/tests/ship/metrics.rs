//! Metrics of stored recordings: the figures of the other commands, in a format that Prometheus takes.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::official::promtool;
use crate::receiver::Receiver;
use crate::recordings::{LEAKS, SERVER, folder, json, memtrail, recording, text};

/// The metrics of a recording or folder.
fn metrics(path: &Path, more: &[&str]) -> String {
    let file = path.with_file_name("m.prom");
    let mut command = memtrail(&["ship", path.to_str().unwrap(), "--once", "--metrics"]);
    let output = command.arg(&file).args(more).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
    let text = fs::read_to_string(&file).unwrap();
    let checked = promtool(&["check", "metrics"], &text);
    assert!(checked.status.success() && checked.stderr.is_empty(), "{checked:?}");
    text
}

/// Values of a metric.
fn values(metrics: &str, name: &str) -> Vec<f64> {
    let of_name =
        |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
    let value = |line: &str| line.rsplit(' ').next().unwrap().parse().unwrap();
    metrics.lines().filter(of_name).map(value).collect()
}

#[test]
fn figures_are_those_of_the_other_commands() {
    let (_folder, path) = recording();
    let text = metrics(&path, &["--top", "3"]);
    let name = path.to_str().unwrap();
    let close = |name: &str, expected: f64| {
        let sum: f64 = values(&text, name).iter().sum();
        assert!((sum - expected).abs() < 1.0, "{name}: {sum}, {expected}");
    };
    let report = json(&["report", "--json", name]);
    let live = report["report"]["totals"]["live_at_end"]["bytes"].as_f64().unwrap();
    close("memtrail_live_bytes", live);
    close("memtrail_site_live_bytes", live);
    assert_eq!(values(&text, "memtrail_site_live_bytes").len(), 4);
    let resident = &report["memory"];
    close("memtrail_resident_bytes", resident["rss"].as_f64().unwrap());
    close("memtrail_resident_part_bytes", resident["sum"].as_f64().unwrap());
    let leaks = json(&["leaks", "--json", "--limit", "0", name]);
    let suspects = leaks["suspects"].as_array().unwrap();
    close("memtrail_suspects", suspects.len() as f64);
    let bytes = |of: &Value| of["owned"].as_f64().unwrap() + of["owned_external"].as_f64().unwrap();
    close("memtrail_suspect_bytes", suspects.iter().map(bytes).sum());
    for suspect in suspects {
        assert!(text.contains(&format!("owner=\"{}\"", suspect["owner"].as_str().unwrap())));
    }
    let roots = json(&["heap", "roots", "--json", name]);
    close("memtrail_owner_live_bytes", bytes(&roots));
    assert_eq!(values(&text, "memtrail_owner_live_bytes").len(), 4);
    close("memtrail_recording_running", 0.0);
    close("memtrail_snapshots", 2.0);
}

/// Words of a text that begin as names of metrics do.
fn names(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("memtrail_")).collect()
}

#[test]
fn rules_dashboard_and_guide_name_metrics_that_exist() {
    let (_folder, path) = recording();
    let receiver = Receiver::start(&[]);
    let text = metrics(&path, &["--to", &receiver.url, "--every", "100ms"]);
    assert_eq!(values(&text, "memtrail_windows_shipped_total"), [10.0]);
    assert_eq!(values(&text, "memtrail_windows_waiting"), [0.0]);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let read = |name: &str| fs::read_to_string(docs.join(name)).unwrap();
    let (rules, dashboard) =
        (docs.join("prometheus/alerts.yml"), read("prometheus/dashboard.json"));
    let checked = promtool(&["check", "rules", rules.to_str().unwrap()], "");
    assert!(checked.status.success(), "{checked:?}");
    let panels: Value = serde_json::from_str(&dashboard).unwrap();
    assert!(panels["panels"].as_array().is_some_and(|panels| panels.len() >= 4));
    let guide = read("guide/continuous-profiling.md");
    for page in [fs::read_to_string(&rules).unwrap(), dashboard, guide.clone()] {
        assert!(!names(&page).is_empty());
        for name in names(&page) {
            assert!(!values(&text, name).is_empty(), "{name}");
        }
    }
    // The guide has all of them.
    let written = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for name in written.map(|line| line.split(' ').next().unwrap()) {
        assert!(names(&guide).contains(&name), "{name}");
    }
}

#[test]
fn rules_fire_for_a_leak_that_stays_and_for_windows_that_wait() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prometheus");
    let output = promtool(&["test", "rules", docs.join("alerts_test.yml").to_str().unwrap()], "");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn hostile_labels_cannot_add_a_series() {
    let folder = folder(&[LEAKS, SERVER]);
    let file = folder.path().join(LEAKS).join("recording.json");
    let mut description: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    description["labels"] =
        serde_json::json!({"zone": "a\"} 1\nmemtrail_suspects 99\\", "owner": "x"});
    fs::write(&file, description.to_string()).unwrap();
    let text = metrics(folder.path(), &["--label", "site=mine"]);
    let suspects = values(&text, "memtrail_suspects");
    assert_eq!(suspects.len(), 2, "{text}");
    assert!(text.contains(r#"zone="a\"} 1\nmemtrail_suspects 99\\""#), "{text}");
    let mut series = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (labels, _) = line.rsplit_once(' ').unwrap();
        assert!(series.insert(labels.to_owned()), "{line}");
    }
}

#[test]
fn a_target_that_the_collector_would_not_read_is_refused() {
    let (folder, path) = recording();
    let ship = |target: &str| {
        memtrail(&["ship", path.to_str().unwrap(), "--once", "--metrics", target]).output().unwrap()
    };
    let output = ship("metrics.txt");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output).contains(".prom"), "{output:?}");
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    let output = ship(&format!("unix:{}", file.display()));
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    fs::write(path.join("trace.ctf"), "nonsense").unwrap();
    let output = ship(folder.path().join("m.prom").to_str().unwrap());
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let output = ship(folder.path().join("none/m.prom").to_str().unwrap());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
