//! `memtrail check --children`: limits of sizes are of all processes together, leaks are looked for in each.

use std::path::{Path, PathBuf};

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use serde_json::Value;

use super::{SITE, check, code, stderr, table};

/// The traces of all processes are merged: this takes a tenth of what the other tests' rate does, and chance is far from
/// the limits all the same.
const RATE: [&str; 2] = ["--rate", "1e-3"];

fn families(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "family")).collect()
}

fn gate<'a>(answer: &'a Value, name: &str, process: Option<&str>) -> &'a Value {
    let gates = answer["gates"].as_array().unwrap();
    let found = gates.iter().find(|one| one["gate"] == name && one["process"].as_str() == process);
    found.unwrap_or_else(|| panic!("{name} {process:?}: {answer:#}"))
}

fn verdicts(compiler: &str) {
    let (folder, program) = (tempfile::tempdir().unwrap(), table(compiler));
    let (folder, path) = (folder.path(), program.path.to_str().unwrap());
    let gates = [&RATE[..], &["--children", "--no-leak", "--max-total", "10G"]].concat();
    let sound = format!("{path} bounded; {path} bounded");
    let passed = check(folder, &gates, &["sh", "-c", &sound]);
    assert_eq!(code(&passed), 0, "{passed:?}");
    assert!(stderr(&passed).contains("--no-leak: no leak found in 2 processes"), "{passed:?}");
    assert!(families(folder).is_empty(), "passed, so nothing is kept");

    let leaking = format!("{path} bounded; {path} leak");
    let with_site = [&gates[..], &["--site", SITE, "--json"]].concat();
    let failed = check(folder, &with_site, &["sh", "-c", &leaking]);
    assert_eq!(code(&failed), 4, "{failed:?}");
    let answer: Value = serde_json::from_slice(&failed.stderr).unwrap();
    assert_eq!(gate(&answer, "--no-leak", Some("leak_table 1"))["verdict"], "passed");
    let leak = gate(&answer, "--no-leak", Some("leak_table 2"));
    assert_eq!(leak["verdict"], "failed");
    assert!(leak["details"].to_string().contains("allocated in Leak_table.load"), "{leak}");
    assert_eq!(gate(&answer, "--max-total 10G", None)["verdict"], "passed");
    let site = format!("--site '{SITE}'");
    assert_eq!(gate(&answer, &site, None)["verdict"], "failed");

    // The folder that was kept gets the same verdicts, and the page has all processes.
    let [kept] = &families(folder)[..] else { panic!("{:?}", families(folder)) };
    assert_eq!(Path::new(answer["recording"].as_str().unwrap()).file_name(), kept.file_name());
    let kept = kept.to_str().unwrap();
    let files = ["--junit", "a.xml", "--markdown", "a.md", "--html", "a.html"];
    let gates = [&["--no-leak", "--max-total", "10G", "--site", SITE][..], &files].concat();
    let again = check(folder, &[&gates[..], &["--recording", kept, "--json"]].concat(), &[]);
    assert_eq!(code(&again), 4, "{again:?}");
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["gates"], answer["gates"]);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let junit = read("a.xml");
    assert!(junit.contains("tests=\"4\" failures=\"2\" errors=\"0\""), "{junit}");
    for number in [1, 2] {
        assert!(junit.contains(&format!("name=\"--no-leak of leak_table {number}\"")), "{junit}");
    }
    let markdown = read("a.md");
    assert!(markdown.contains("| --no-leak of leak\\_table 2 | **failed** | "), "{markdown}");
    assert!(markdown.contains("| --no-leak | passed | no leak found in 1 process |"), "{markdown}");
    let traces = read("a.html").matches("application/x-memtrail-trace").count();
    assert!(traces >= 3, "{traces}: all together, and each");
}

#[test]
fn leaks_are_looked_for_in_each_process_of_ocaml_4() {
    verdicts("system");
}

#[test]
fn leaks_are_looked_for_in_each_process_of_ocaml_5() {
    verdicts("ocaml-5.3.0");
}

/// A process has 16 MiB at most, with the 8 MiB of its parent there are 24 MiB.
#[test]
fn sizes_are_of_all_processes_together() {
    let (folder, program) = (tempfile::tempdir().unwrap(), build(&named("system"), "family_grows"));
    let (folder, path) = (folder.path(), program.path.to_str().unwrap());
    let script = format!("printf 'fork\\n' | {path} > /dev/null");
    for (limit, expected) in [("20M", 4), ("1G", 0)] {
        for gate in ["--max-live", "--site"] {
            let value =
                if gate == "--site" { format!("Family_grows.*<={limit}") } else { limit.into() };
            let name = format!("{limit}{gate}");
            let gates = [&RATE[..], &["--children", gate, &value, "-o", &name]].concat();
            let output = check(folder, &gates, &["sh", "-c", &script]);
            assert_eq!(code(&output), expected, "{output:?}");
            // The child's snapshot has 24 MiB: that was not looked at.
            let text = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
            let is_exact = text.contains(" were reachable in one process, in its snapshot at ");
            assert_eq!(is_exact, name == "20M--max-live", "{text}");
        }
    }
    for recording in folder.join("20M--site").read_dir().unwrap() {
        let recording = recording.unwrap().path();
        let gates = ["--site", "Family_grows.*<=20M", "--recording", recording.to_str().unwrap()];
        let alone = check(folder, &gates, &[]);
        assert_eq!(code(&alone), 0, "{alone:?}");
    }
    let baseline = ["--baseline", "20M--site", "--max-increase", "100%", "--recording", "1G--site"];
    let same = check(folder, &baseline, &[]);
    assert_eq!(code(&same), 0, "{same:?}");
}

/// The recording of a process that is killed is whole: what it had sampled is judged.
#[test]
fn a_killed_child_is_judged_and_one_that_runs_on_is_not() {
    let (folder, program) = (tempfile::tempdir().unwrap(), build(&named("system"), "heap_grows"));
    let (folder, path) = (folder.path(), program.path.to_str().unwrap());
    let start = format!(
        "mkfifo in$0; exec 3<>in$0; {path} <in$0 >out$0 2>/dev/null & until [ -s out$0 ]; do sleep 0.1; done; "
    );
    let run = |name: &str, end: &str| {
        let gates = [&RATE[..], &["--children", "--max-total", "1G", "--keep"]].concat();
        check(folder, &gates, &["sh", "-c", &format!("{start}{end}"), name])
    };
    let killed = run("1", "kill -9 $(cat out1); wait; true");
    assert_eq!(code(&killed), 0, "{killed:?}");
    let runs_on = run("2", "true");
    let pid = std::fs::read_to_string(folder.join("out2")).unwrap();
    let ended = std::process::Command::new("kill").arg(pid.trim()).status().unwrap();
    assert!(ended.success());
    assert_eq!(code(&runs_on), 6, "{runs_on:?}");
    assert!(stderr(&runs_on).contains("the process runs on"), "{runs_on:?}");
}
