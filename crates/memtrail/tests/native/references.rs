//! What refers to native memory: `memtrail leaks` and `memtrail why` on recordings with references.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use memtrail_recording::{Recording, SnapshotOutcome};
use memtrail_test_support::contents;
use memtrail_test_support::running::Case;

use super::{Program, compile, json};

const SNAPSHOT: [&str; 5] = ["--native", "--rate", "1", "--snapshot", "exit"];

fn program() -> Program {
    compile("references.c", &["-pthread"])
}

/// Unreachable blocks by the function that allocated them: all, and those to which nothing refers at all.
fn unreachable(recording: &Path) -> BTreeMap<String, (u64, u64)> {
    let (found, code) = json(&["leaks", "--limit", "0"], recording);
    assert_eq!(code, Some(0), "{found:#}");
    assert_eq!(found["unreachable"]["conservative"], true);
    let sites = found["unreachable"]["sites"].as_array().unwrap().iter();
    sites
        .map(|site| {
            let function = site["allocated"][0]["function"].as_str().unwrap().to_owned();
            let sampled = |which: &str| site[which]["sampled"].as_u64().unwrap();
            (function, (sampled("unreachable"), sampled("direct")))
        })
        .collect()
}

/// Leaks by function, as the program reports them that was compiled with `LeakSanitizer`.
fn by_leak_sanitizer() -> BTreeMap<String, (u64, u64)> {
    let program = compile("references.c", &["-pthread", "-fsanitize=leak"]);
    let output = Command::new(&program.path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut found = BTreeMap::new();
    let mut leak = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [kind, "leak", "of", _, "byte(s)", "in", objects, ..] => {
                leak = Some((*kind == "Direct", objects.parse::<u64>().unwrap()));
            }
            ["#1", _, "in", function, ..] => {
                let (is_direct, objects) = leak.take().unwrap();
                let sum: &mut (u64, u64) = found.entry((*function).to_owned()).or_default();
                sum.0 += objects;
                sum.1 += if is_direct { objects } else { 0 };
            }
            _ => {}
        }
    }
    assert!(!found.is_empty(), "{text}");
    found
}

/// The steps of the paths to what a function allocated, those of most first.
fn paths(function: &str, recording: &Path) -> Vec<Vec<String>> {
    let (found, code) =
        json(&["why", "--limit", "0", recording.to_str().unwrap()], Path::new(function));
    assert_eq!(code, Some(0), "{found:#}");
    let paths = found["malloc"]["paths"].as_array().unwrap().iter();
    paths.map(|path| serde_json::from_value(path["steps"].clone()).unwrap()).collect()
}

#[test]
fn unreachable_blocks_are_those_that_leak_sanitizer_finds() {
    let recorded = Case::command(&program().path, &[]).options(&SNAPSHOT).same();
    let mut ours = unreachable(&recorded.recording);
    let mut theirs = by_leak_sanitizer();
    // The last one may still be on the thread's stack.
    for found in [&mut ours, &mut theirs] {
        let (thread, _) = found.remove("by_thread_lost").unwrap();
        assert!((48..=50).contains(&thread), "{thread}");
    }
    assert_eq!(ours, theirs);
    assert_eq!(ours["by_lost"], (100, 100));
    assert_eq!(ours["by_lost_tail"], (10, 0));
}

#[test]
fn what_refers_to_blocks_has_a_name() {
    let recorded = Case::command(&program().path, &[]).options(&SNAPSHOT).same();
    let through = |function: &str| paths(function, &recorded.recording)[0].join(" / ");
    assert_eq!(through("by_table"), "variable table+0x18 (references.c:18)");
    assert_eq!(through("by_large"), "variable table+0x20 (references.c:18)");
    assert_eq!(through("by_inside"), "variable inside (references.c:19)");
    assert!(through("by_stack").starts_with("stack of thread "));
    assert!(through("by_local").starts_with("thread-local data of thread "));
    let of_list = paths("by_list", &recorded.recording);
    let step = "block allocated in by_list (references.c:27), at +0x0";
    assert_eq!(of_list[0], ["variable list (references.c:17)", step]);
}

/// Each of two calls in a line had a row of its own, with the same text.
#[test]
fn calls_of_one_line_are_one_unreachable_site() {
    let recorded = Case::command(&compile("one_line.c", &[]).path, &[]).options(&SNAPSHOT).same();
    let (found, _) = json(&["leaks", "--limit", "0"], &recorded.recording);
    let sites = found["unreachable"]["sites"].as_array().unwrap();
    assert_eq!((sites.len(), &found["unreachable"]["count"]), (1, &1.into()), "{found:#}");
    assert_eq!(sites[0]["allocated"][0]["function"], "lose", "{found:#}");
    let sampled = sites[0]["unreachable"]["sampled"].as_u64().unwrap();
    assert!(sampled > 90, "{sampled} of 100: both calls");
}

/// It was reported as leaked.
#[test]
fn a_block_to_which_a_system_call_alone_refers() {
    let program = compile("waits.c", &["-pthread"]);
    let recorded = Case::command(&program.path, &[]).options(&SNAPSHOT).same();
    assert_eq!(recorded.seen.stdout(), "1\n", "the thread waits");
    let found = unreachable(&recorded.recording);
    assert!(!found.contains_key("by_waiting") && found["by_lost"] == (1, 1), "{found:?}");
    let through = paths("by_waiting", &recorded.recording)[0].join(" / ");
    assert!(through.starts_with("system call in which thread "), "{through}");
}

/// It was not taken: "Permission denied".
#[test]
fn a_program_that_gave_up_its_privileges_has_a_snapshot() {
    let program = compile("drops_privileges.c", &[]);
    let recorded = Case::command(&program.path, &[]).options(&SNAPSHOT).same();
    assert_eq!(recorded.seen.stdout(), "65534\n", "run this test as root");
    let found = unreachable(&recorded.recording);
    let (lost, direct) = found["lose"];
    assert!(found.len() == 1 && lost == direct && (19_990..=20_000).contains(&lost), "{found:?}");
    let description = memtrail_recording::Recording::open(&recorded.recording).unwrap().description;
    let snapshots = description.unwrap().snapshots.unwrap();
    let SnapshotOutcome::Complete { bytes, .. } = snapshots[0].outcome else {
        panic!("{snapshots:?}")
    };
    // More than one message to the launcher.
    assert!(bytes > 16 << 10, "{bytes}");
}

/// Each of its blocks was reported as leaked.
#[test]
fn a_program_without_proc_has_no_snapshot() {
    let (program, root) = (compile("drops_privileges.c", &[]), tempfile::tempdir().unwrap());
    let arguments = [root.path().to_str().unwrap()];
    let recorded = Case::command(&program.path, &arguments).options(&SNAPSHOT).same();
    assert_eq!(recorded.seen.stdout(), "65534\n", "run this test as root");
    let description = memtrail_recording::Recording::open(&recorded.recording).unwrap().description;
    let snapshots = description.unwrap().snapshots.unwrap();
    let SnapshotOutcome::Failed { reason } = &snapshots[0].outcome else { panic!("{snapshots:?}") };
    assert!(reason.contains("no /proc in the program's root folder"), "{reason}");
    let (found, _) = json(&["leaks"], &recorded.recording);
    assert_eq!(found["unreachable"], serde_json::Value::Null, "{found:#}");
}

/// Of a thousand blocks of a list few are sampled: those are reached through blocks that are not.
#[test]
fn blocks_that_are_not_sampled_lead_on() {
    let options = ["--native", "--rate", "0.05", "--seed", "3", "--snapshot", "exit"];
    let recorded = Case::command(&program().path, &[]).options(&options).same();
    let found = unreachable(&recorded.recording);
    for function in ["by_list", "by_table", "by_large", "by_inside", "by_stack", "by_local"] {
        assert!(!found.contains_key(function), "{found:?}");
    }
    assert!(found.contains_key("by_lost") && found.contains_key("by_large_lost"), "{found:?}");
}

#[test]
fn snapshots_are_taken_at_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile("references.c", &["-pthread", "-DSECONDS=2"]);
    let recording = folder.path().join("it.memtrail");
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail"))
        .args(["run", "--native", "--every", "200ms", "--at-most", "2", "-o"])
        .arg(&recording)
        .arg("--")
        .arg(&program.path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let found = memtrail_recording::Recording::open(&recording).unwrap().description.unwrap();
    let snapshots = found.snapshots.unwrap();
    assert_eq!(snapshots.len(), 2, "{snapshots:?}");
    for snapshot in &snapshots {
        assert_eq!(snapshot.reason, memtrail_recording::SnapshotReason::Interval);
        assert!(matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }), "{snapshot:?}");
        assert!(recording.join(&snapshot.file).exists(), "{snapshot:?}");
    }
}

/// Much that is alive at an interpreter's end is reachable from its variables, or from memory that it manages itself.
#[test]
fn an_interpreter_has_no_unreachable_block() {
    let script = "import json; print(len(json.dumps([{'n': n} for n in range(1000)])))";
    let recorded =
        Case::command("/usr/bin/python3", &["-I", "-c", script]).options(&SNAPSHOT).same();
    let (found, _) = json(&["leaks", "--limit", "0"], &recorded.recording);
    assert_eq!(found["unreachable"]["unreachable"]["sampled"], 0, "{found:#}");
    assert!(found["unreachable"]["reachable"]["sampled"].as_u64().unwrap() > 10, "{found:#}");
}

/// `leaks` gave no answer at all then, although the trace was whole.
#[test]
fn a_damaged_file_of_references_costs_what_retains_memory_alone() {
    let recorded = Case::command(&program().path, &[]).options(&SNAPSHOT).same();
    let file = recorded.recording.join(memtrail_references::file_name(1));
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        command.args(arguments).arg(&recorded.recording).output().unwrap()
    };
    let leaks = run(&["leaks"]);
    assert_eq!(leaks.status.code(), Some(3), "{leaks:?}");
    let stdout = String::from_utf8_lossy(&leaks.stdout);
    assert!(stdout.contains("by_lost"), "{stdout}");
    let stderr = String::from_utf8_lossy(&leaks.stderr);
    assert!(stderr.contains("cannot read") && stderr.contains("0001.references"), "{stderr}");
    assert_eq!(run(&["check", "--no-leak", "--recording"]).status.code(), Some(6));
    assert_eq!(run(&["why", "by_list"]).status.code(), Some(3));
}

fn memtrail(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_memtrail")).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// `why` said that snapshots are of OCaml's heap alone.
#[test]
fn why_without_a_snapshot_names_the_option_that_takes_one() {
    let options = ["--native", "--rate", "1", "--snapshot", "off"];
    let recorded = Case::command(&program().path, &[]).options(&options).same();
    let (code, said) = memtrail(&["why", recorded.recording.to_str().unwrap(), "by_list"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("has no snapshot") && !said.contains("OCaml"), "{said}");
    assert!(said.contains("hint: record it with one: memtrail run --native --snapshot exit -- "));
}

/// It was ignored where there was no snapshot at all.
#[test]
fn a_snapshot_that_is_not_there_is_refused_by_leaks() {
    let program = program();
    for (snapshot, known) in [("off", "hint: there is no snapshot"), ("exit", "hint: there is 1")] {
        let options = ["--native", "--rate", "1", "--snapshot", snapshot];
        let recorded = Case::command(&program.path, &[]).options(&options).same();
        let recording = recorded.recording.to_str().unwrap();
        let (code, said) = memtrail(&["leaks", recording, "--snapshot", "9"]);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains("no snapshot 9 in ") && said.contains(known), "{said}");
        let (code, said) = memtrail(&["leaks", recording]);
        assert_eq!(code, Some(0), "{said}");
    }
}

/// It was taken for no interval at all.
#[test]
fn an_interval_of_nothing_is_refused() {
    for time in ["0s", "0"] {
        let (code, said) = memtrail(&["run", "--native", "--every", time, "--", "true"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("the least time between snapshots is 1ms"), "{said}");
    }
}

/// A thread of the agent's takes these: forked processes have none, and nothing said so.
#[test]
fn a_forked_process_notes_that_it_takes_no_snapshot_while_it_runs() {
    let program = compile("forks_and_keeps.c", &[]);
    for more in [["--every", "10ms"], ["--snapshot", "request"]] {
        let options = [&["--native", "--rate", "1e-2", "--children"][..], &more].concat();
        let case = Case::command(&program.path, &[]).options(&options);
        let (_, folders) = case.recorded_in_folder();
        let notes = folders.iter().filter_map(|folder| Recording::open(folder).ok()?.description);
        let noted: Vec<bool> = notes
            .map(|known| known.notes.iter().any(|note| note.contains("that was forked")))
            .collect();
        assert_eq!(noted.iter().filter(|noted| **noted).count(), 1, "{more:?}: {noted:?}");
    }
}

/// The list of its libraries could not be written, so call sites were addresses for good.
#[test]
fn functions_of_a_forked_child_that_gave_up_its_privileges_have_names() {
    let program = compile("forks_and_drops.c", &[]);
    let options = ["--native", "--rate", "1e-2", "--children"];
    let case = Case::command(&program.path, &[]).options(&options);
    let (seen, folders) = case.recorded_in_folder();
    assert_eq!(seen.stdout(), "65534\n", "run this test as root");
    let keeps = folders.iter().filter(|folder| contents::read(folder).inside("keep").count() > 100);
    assert_eq!(keeps.count(), 1);
}
