//! Programs that are started, by a shell that is not recorded.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use memtrail_recording::{FileState, Recording};
use memtrail_test_support::compilers::named;
use memtrail_test_support::on_each;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use serde_json::Value;

use super::{json, printed};

on_each!(programs_of_a_script_are_one_family, |compiler| {
    let program = build(&named(compiler), "family");
    let path = program.path.to_str().expect("a path in UTF-8");
    let script = format!("{path} > /dev/null; {path} > /dev/null; exec {path}");
    let case = Case::command("sh", &["-c", &script]);
    let case = case.options(&["--rate", "1e-2", "--children"]);
    let (seen, recordings) = case.recorded_in_folder();
    assert!(seen.status.success(), "{seen:?}");
    let family = recordings[0].parent().expect("a folder");
    let name = family.file_name().and_then(|name| name.to_str()).expect("a name");
    assert!(name.starts_with("sh-") && name.ends_with(".family"), "{name}");
    let whole = json(&["report", "--json"], family);
    let processes = whole["family"]["processes"].as_array().expect("processes");
    assert_eq!(processes.len(), recordings.len());
    let first = |process: &&Value| process["origin"] == "first";
    assert_eq!(processes.iter().filter(first).count(), 3);
    let samples = |process: &Value| process["totals"]["allocated"]["samples"].as_u64().unwrap_or(0);
    let sum: u64 = processes.iter().map(samples).sum();
    assert_eq!(whole["report"]["totals"]["allocated"]["samples"], sum);
    // Each has what its memory was used for, and what its collector did. Nothing is measured as a process becomes
    // another program.
    let has_exited = |process: &&Value| {
        process["outcome"] != "until it became another program" && samples(process) > 0
    };
    for process in processes.iter().filter(has_exited) {
        let (rss, peak) = (&process["memory"]["rss"], &process["memory"]["peak_rss"]);
        assert!(rss.as_u64() > Some(0) && peak.as_u64() >= rss.as_u64(), "{process:#}");
        assert!(process["collections"]["minor_collections"].is_u64(), "{process:#}");
    }
    let text = printed(&["report", "--width", "120"], family);
    let heading = text.lines().find(|line| line.contains("at its end")).expect("a heading");
    assert!(heading.contains("RSS") && heading.contains("GC"), "{heading}");
    // Threads are named after processes.
    let folded = printed(&["trace", "folded"], family);
    assert!(folded.lines().all(|line| line.starts_with("[family-")), "{folded}");
    // Heaps of families are compared, too, where there are snapshots.
    let compared = printed(&["diff", "--width", "120", family.to_str().expect("UTF-8")], family);
    assert!(compared.contains("both sides need a snapshot"), "{compared}");
});

/// The session ended with the shell, and the program found no recorder.
#[test]
fn a_program_that_a_shell_in_the_background_starts_later_is_recorded() {
    let program = build(&named("system"), "family");
    let folder = tempfile::tempdir().unwrap();
    let family = folder.path().join("late.family");
    let script = format!("(sleep 1; exec {} again) > /dev/null & exit 0", program.path.display());
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--children", "--rate", "1e-2", "-o"])
        .arg(&family)
        .args(["--", "sh", "-c", &script])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("processes that sh started run on"), "{said}");
    let begun = Instant::now();
    let is_complete = |path: PathBuf| {
        let description = Recording::open(&path).ok().and_then(|recording| recording.description);
        description.is_some_and(|known| known.trace.state == FileState::Complete)
    };
    let found = || {
        let entries = fs::read_dir(&family).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).any(is_complete)
    };
    while !found() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no recording in {family:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_folder_without_recordings_goes_with_the_shell_in_the_background() {
    let folder = tempfile::tempdir().unwrap();
    let family = folder.path().join("none.family");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--children", "-o"])
        .arg(&family)
        .args(["--", "sh", "-c", "(sleep 1; true) > /dev/null 2>&1 & exit 0"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let begun = Instant::now();
    while family.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{family:?} stays");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn processes_without_samples_are_listed_and_not_opened() {
    let program = build(&named("ocaml-4.14.1000"), "family");
    let path = program.path.to_str().expect("a path in UTF-8");
    let case = Case::command("sh", &["-c", &format!("{path} again; {path} again; {path} again")]);
    let case = case.options(&["--rate", "1e-9", "--children"]);
    let (_, recordings) = case.recorded_in_folder();
    let family = recordings[0].parent().expect("a folder");
    for recording in &recordings {
        let described = fs::read_to_string(recording.join("recording.json")).unwrap();
        let trace = &serde_json::from_str::<serde_json::Value>(&described).unwrap()["trace"];
        assert!(trace["state"] == "complete" && trace["blocks"] == 0, "{described}");
    }
    // What is not there cannot be opened.
    for recording in &recordings[1..] {
        fs::write(recording.join("trace.ctf"), "not a trace").unwrap();
    }
    let text = printed(&["report"], family);
    assert!(text.contains("Nothing was sampled"), "{text}");
    assert!(text.contains("3 without samples: family (3)"), "{text}");
}

/// A snapshot of each child took more time than the child, and had no blocks.
#[test]
fn small_processes_are_counted_and_have_no_snapshot() {
    let script = "/bin/true; /bin/true; seq 100000 | sort > /dev/null; true";
    let case = Case::command("bash", &["-c", script]);
    let case = case.options(&["--native", "--rate", "1e-3", "--children", "--snapshot", "exit"]);
    let (seen, recordings) = case.recorded_in_folder();
    assert!(seen.status.success(), "{seen:?}");
    let family = recordings[0].parent().expect("a folder");
    let whole = json(&["report", "--json"], family);
    let processes = whole["family"]["processes"].as_array().expect("processes");
    let of = |program: &str| -> Vec<(Value, bool)> {
        let all = processes.iter().filter(|process| process["program"] == program);
        let seen =
            |process: &Value| (process["snapshots"].clone(), process["no_last_snapshot"] == true);
        all.map(seen).collect()
    };
    assert_eq!(of("true"), [(0.into(), true), (0.into(), true)]);
    assert_eq!(of("sort"), [(1.into(), false)]);
    // The program itself always has one.
    assert_eq!(of("bash")[0], (1.into(), false));
    let text = printed(&["report", "--width", "120"], family);
    assert!(text.contains(" without a snapshot: allocated less than 1.00 MiB"), "{text}");
}

#[test]
fn nothing_is_left_behind_where_nothing_is_recorded() {
    let case = Case::command("true", &[]).options(&["--children"]);
    let (seen, recordings) = case.recorded_in_folder();
    assert!(seen.status.success() && recordings.is_empty(), "{seen:?}");
    assert_eq!(fs::read_dir(case.folder.path()).expect("a folder").count(), 0);
}

/// Of Flow's workers, of whose heap nothing could be judged, it was said only that none is a suspect.
#[test]
fn what_cannot_be_judged_of_a_family_is_said() {
    let program = build(&named("ocaml-4.14.1000"), "leak_table");
    let path = program.path.to_str().expect("a path in UTF-8");
    let case = Case::command("sh", &["-c", &format!("{path} leak; {path} leak")]);
    let case = case.options(&["--rate", "1e-9", "--children", "--snapshot", "exit"]);
    let (seen, recordings) = case.recorded_in_folder();
    assert!(seen.status.success() && recordings.len() == 2, "{seen:?}");
    let text = printed(&["leaks", "--width", "120"], recordings[0].parent().expect("a folder"));
    assert!(text.starts_with("no leak found, but too little evidence in "), "{text}");
    assert_eq!(text.matches(" of it cannot be judged").count(), 2, "{text}");
    assert!(text.contains("record longer, with a higher --rate"), "{text}");
}
