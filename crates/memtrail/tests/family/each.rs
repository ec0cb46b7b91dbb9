//! Commands that answer for each process of a family: as for the process alone, and sums over all.

use std::path::{Path, PathBuf};

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use serde_json::Value;

use super::{figure, json, memtrail, printed};

/// The second fork of `family_apart` has five arrays of 50 floats, which a list of five elements holds.
const TABLES: u64 = 5 * (51 * 8 + 3 * 8);
/// A copy of the string, and the element of the list that holds it.
const WORD: u64 = 14 * 8;
const WITH_ELEMENT: u64 = WORD + 3 * 8;
/// How many copies a process, its first fork and its second fork keep; each list of them is an element of another.
const WORDS: [u64; 3] = [10, 10 + 30, 10 + 20];

/// `family_apart` with its forks, and the recordings of these.
fn apart() -> (Case, PathBuf, Vec<PathBuf>) {
    let case = Case::new(&build(&named("system"), "family_apart"), &["030"]);
    let options = ["--rate", "1", "--children", "--snapshot", "exit", "--contents"];
    let case = case.options(&options);
    let (seen, recordings) = case.recorded_in_folder();
    assert!(seen.status.success() && recordings.len() == 3, "{seen:?} {recordings:?}");
    let family = recordings[0].parent().expect("a folder").to_path_buf();
    (case, family, recordings)
}

fn parts(of: &Value) -> &[Value] {
    of["processes"].as_array().unwrap_or_else(|| panic!("no processes in {of:#}"))
}

/// The answer about a process in one about a family is that about its recording; gives how many there are.
fn each_is_as_alone(whole: &Value, alone: impl Fn(&Path) -> Value) -> usize {
    for part in parts(whole) {
        let recording = Path::new(part["recording"].as_str().expect("a recording"));
        assert!(part["pid"].is_u64() && part["generation"].is_u64(), "{part:#}");
        let mut alone = alone(recording);
        let object = alone.as_object_mut().expect("an object");
        for of_all in ["format", "notes"] {
            object.remove(of_all);
        }
        assert_eq!(part["answer"], alone, "{}", recording.display());
    }
    parts(whole).len()
}

/// Words that have a recording in the middle.
fn about(words: &[&str], recording: &Path, name: &str) -> Value {
    let recording = recording.to_str().expect("UTF-8");
    json(&[words, &["--json", recording]].concat(), Path::new(name))
}

/// Lines fit, and the processes are named.
fn text_fits(words: &[&str], path: &Path) -> String {
    let text = printed(&[words, &["--width", "80"]].concat(), path);
    for line in text.lines() {
        assert!(line.chars().count() <= 80 && line == line.trim_end(), "{words:?}: {line}");
    }
    assert!(text.contains("one of them: --process PID"), "{words:?}: {text}");
    text
}

#[test]
fn questions_about_one_snapshot_are_answered_for_each_process() {
    let (_case, family, recordings) = apart();
    let commands: [&[&str]; 12] = [
        &["heap", "roots", "--retained"],
        &["heap", "roots", "--sort", "reachable", "--limit", "5"],
        &["heap", "roots", "--retained", "--kind", "global"],
        &["heap", "path", "--kind", "string"],
        &["heap", "dominators"],
        &["heap", "dominators", "--root", "Family_apart"],
        &["heap", "stack"],
        &["heap", "joint"],
        &["heap", "retained", "--kind", "string"],
        &["heap", "retained", "--root", "Family_apart"],
        &["heap", "retained", "--kind", "string", "--root", "Family_apart"],
        &["heap", "strings"],
    ];
    for command in commands {
        let words = [command, &["--json"]].concat();
        let count = each_is_as_alone(&json(&words, &family), |recording| json(&words, recording));
        assert_eq!(count, recordings.len(), "{command:?}");
        text_fits(command, &family);
    }
    let retained = json(&["heap", "retained", "--root", "Family_apart", "--json"], &family);
    for name in ["blocks", "bytes", "retained"] {
        let sum: u64 = parts(&retained).iter().map(|part| figure(&part["answer"], name)).sum();
        assert_eq!(figure(&retained, name), sum, "{name}");
    }
    let sizes: Vec<u64> =
        parts(&retained).iter().map(|part| figure(&part["answer"], "retained")).collect();
    assert!(sizes.is_sorted_by(|a, b| a > b), "the largest comes first: {sizes:?}");
    // All but what is there without them.
    let without: u64 = sizes[2] - WORDS[0] * WITH_ELEMENT;
    let lists = |lists: u64| lists * 3 * 8;
    let expected = [
        WORDS[1] * WITH_ELEMENT + lists(1),
        WORDS[2] * WITH_ELEMENT + lists(1) + TABLES,
        WORDS[0] * WITH_ELEMENT,
    ];
    let mut expected = expected.map(|size| size + without);
    expected.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(sizes, expected);
}

#[test]
fn what_occurs_in_one_process_only_is_found_there() {
    let (_case, family, _) = apart();
    let kind = "float array";
    let commands: [&[&str]; 2] =
        [&["heap", "path", "--kind", kind], &["heap", "retained", "--kind", kind]];
    for command in commands {
        let whole = json(&[command, &["--json"]].concat(), &family);
        assert_eq!(parts(&whole).len(), 1, "{whole:#}");
        assert_eq!(whole["absent"].as_array().map(Vec::len), Some(2), "{whole:#}");
        let text = text_fits(command, &family);
        assert!(text.contains("there is nothing of it in 2 processes more"), "{text}");
    }
    let whole = json(&["heap", "retained", "--kind", kind, "--json"], &family);
    assert_eq!((figure(&whole, "blocks"), figure(&whole, "bytes")), (5, 5 * 51 * 8));

    let whole = about(&["why"], &family, "Family_apart.arrays");
    assert_eq!((parts(&whole).len(), whole["absent"].as_array().map(Vec::len)), (1, Some(2)));
    assert_eq!(whole["alive"]["bytes"]["value"].as_f64(), Some(TABLES as f64), "{whole:#}");
    assert_eq!(whole["owners"].as_array().map(Vec::len), Some(1), "{whole:#}");

    // Nowhere.
    let nowhere: [(&[&str], &str); 3] = [
        (&["heap", "path", "--kind", "nonesuch"], "nothing alive is a `nonesuch`\nhint: "),
        (&["heap", "path", "--type", "nonesuch"], "nothing alive is known to be a `nonesuch`"),
        (&["heap", "retained", "--root", "nonesuch"], "no root has `nonesuch` in its name"),
    ];
    for (words, expected) in nowhere {
        let refused = memtrail(words, &family);
        assert_eq!(refused.status.code(), Some(2), "{words:?} {refused:?}");
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(stderr.contains(expected) && stderr.matches("memtrail:").count() == 1, "{stderr}");
    }
    let path = family.to_str().expect("UTF-8");
    for (command, expected) in
        [("why", "nothing that \"nonesuch\" allocated"), ("who", "no root, type or kind is called")]
    {
        let refused = memtrail(&[command, path], Path::new("nonesuch"));
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(expected), "{refused:?}");
    }
}

/// What was allocated before a fork is in both snapshots.
#[test]
fn sums_tell_what_forks_still_have_of_their_parents() {
    let (_case, family, recordings) = apart();
    let first = json(&["heap", "info", "--json"], &recordings[0]);
    let parent = figure(&first, "reachable_bytes");
    let whole = json(&["heap", "info", "--json"], &family);
    // The parent keeps all that it had when it forked, and nothing else.
    for process in parts(&whole) {
        let twice = process.get("twice").map(|twice| figure(twice, "bytes"));
        assert_eq!(twice, (process["generation"] == 1).then_some(parent), "{process:#}");
    }
    assert_eq!(figure(&whole["twice"], "bytes"), 2 * parent);
    let own = (30 + 20) * WITH_ELEMENT + 2 * 3 * 8 + TABLES;
    assert_eq!(figure(&whole, "counted_once"), parent + own);
    assert_eq!(figure(&whole["all"], "owned"), 3 * parent + own);
    for command in [&["heap", "roots"][..], &["heap", "histogram"]] {
        let sums = json(&[command, &["--json"]].concat(), &family);
        assert_eq!(sums["twice"], whole["twice"], "{command:?}");
        assert_eq!(sums["counted_once"], whole["counted_once"], "{command:?}");
        let text = printed(command, &family);
        assert!(text.contains("that is counted in"), "{text}");
    }

    // Without the parent's snapshot, what both forks have is known.
    std::fs::remove_file(recordings[0].join("0001.heap")).expect("a snapshot");
    let forks = json(&["heap", "info", "--json"], &family);
    assert!(figure(&forks["twice"], "bytes") >= parent, "{forks:#}");
    assert_eq!(figure(&forks["all"], "owned"), 2 * parent + own);
}

#[test]
fn what_functions_allocated_is_added_up() {
    let (_case, family, recordings) = apart();
    let name = "Family_apart.copies";
    let whole = about(&["why"], &family, name);
    let count = each_is_as_alone(&whole, |recording| about(&["why"], recording, name));
    assert_eq!(count, 3);
    // What was there before the forks is counted once: 10 + 30 + 20 words.
    let expected = (60 * WITH_ELEMENT) as f64;
    assert_eq!(whole["alive"]["bytes"]["value"].as_f64(), Some(expected), "{whole:#}");
    let owners = whole["owners"].as_array().expect("owners");
    assert_eq!(owners.len(), 1, "{whole:#}");
    assert_eq!(owners[0]["alive"]["bytes"]["value"].as_f64(), Some(expected));
    assert_eq!(owners[0]["processes"].as_array().map(Vec::len), Some(3));
    assert_eq!(owners[0]["share"].as_f64(), Some(1.0));
    let path = family.to_str().expect("UTF-8");
    let text = text_fits(&["why", path], Path::new(name));
    assert!(text.contains("alive in 3 processes") && text.contains("family_apart-"), "{text}");

    // As stacks, below the process.
    let folded = printed(&["why", path, "--format", "folded"], Path::new(name));
    let total: u64 =
        folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!(total, expected as u64, "{folded}");
    for recording in &recordings {
        let label = recording.file_stem().and_then(|name| name.to_str()).expect("a name");
        assert!(folded.contains(&format!("[{label}];")), "{label}: {folded}");
    }

    let owner = owners[0]["name"].as_str().expect("a name");
    let whole = about(&["who"], &family, owner);
    assert_eq!(each_is_as_alone(&whole, |recording| about(&["who"], recording, owner)), 3);
    let size: u64 = parts(&whole).iter().map(|part| figure(&part["answer"], "size")).sum();
    assert_eq!(figure(&whole, "size"), size);
    // The same blocks as above, and the variable itself.
    let of_rows = whole["rows"].as_array().expect("rows").iter();
    let of_rows = of_rows.map(|row| row["alive"]["bytes"]["value"].as_f64().unwrap());
    let of_rows: f64 = of_rows.sum();
    assert_eq!(Some(of_rows), whole["alive"]["bytes"]["value"].as_f64(), "{whole:#}");
    assert!(whole["alive"]["bytes"]["value"].as_f64() >= Some(expected), "{whole:#}");
    let text = text_fits(&["who", path], Path::new(owner));
    assert!(text.contains("had then: that is counted"), "{text}");
}

#[test]
fn strings_that_are_there_several_times_are_added_up() {
    let (_case, family, _) = apart();
    let whole = json(&["heap", "strings", "--json"], &family);
    let wasted: u64 = parts(&whole).iter().map(|part| figure(&part["answer"], "wasted")).sum();
    assert_eq!(figure(&whole, "wasted"), wasted);
    let rows = whole["duplicates"].as_array().expect("rows");
    let words = rows.iter().find(|row| row["start"].as_str().unwrap().starts_with("xxx"));
    let words = words.unwrap_or_else(|| panic!("{whole:#}"));
    let times: u64 = WORDS.iter().sum();
    assert_eq!(figure(words, "times"), times);
    assert_eq!(figure(words, "wasted"), (times - 3) * WORD);
    let of_each: Vec<u64> =
        words["processes"].as_array().unwrap().iter().map(|part| figure(part, "times")).collect();
    assert_eq!(of_each, [WORDS[1], WORDS[2], WORDS[0]]);
}

#[test]
fn survivors_are_added_up_over_processes_with_two_snapshots() {
    let options = ["--rate", "1", "--children", "--snapshot", "every-major,exit", "--at-most", "6"];
    let (_case, seen, family) = super::recorded("system", "growing_family", &options);
    assert!(seen.status.success(), "{seen:?}");
    let words = ["heap", "survivors", "--limit", "0", "--json"];
    let whole = json(&words, &family);
    assert_eq!(each_is_as_alone(&whole, |recording| json(&words, recording)), 2);
    for fate in ["survived", "freed", "added"] {
        let value = |of: &Value| of[fate]["bytes"]["value"].as_f64().expect("bytes");
        let sum: f64 = parts(&whole).iter().map(|part| value(&part["answer"])).sum();
        let of_rows: f64 = whole["rows"].as_array().expect("rows").iter().map(value).sum();
        assert_eq!((value(&whole), of_rows), (sum, sum), "{fate}");
    }
    text_fits(&["heap", "survivors"], &family);

    // Those of one snapshot each have none.
    let (_case, family, _) = apart();
    let refused = memtrail(&["heap", "survivors"], &family);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(stderr.contains("no process has two\nhint: take more: "), "{stderr}");
}

#[test]
fn numbers_are_those_of_one_process() {
    let (_case, family, recordings) = apart();
    let path = family.to_str().expect("UTF-8");
    let commands: [&[&str]; 8] = [
        &["heap", "path", "--block", "1"],
        &["heap", "dominators", "--block", "1"],
        &["heap", "dominators", "--root", "1"],
        &["heap", "retained", "--block", "1"],
        &["heap", "retained", "--kind", "string", "--root", "1"],
        &["heap", "block", path, "1"],
        &["heap", "joint", path, "1"],
        &["heap", "shared", path, "0", "1"],
    ];
    for command in commands {
        let words =
            if command.contains(&path) { command.to_vec() } else { [command, &[path]].concat() };
        let (last, words) = words.split_last().expect("words");
        let refused = memtrail(words, Path::new(last));
        assert_eq!(refused.status.code(), Some(2), "{command:?} {refused:?}");
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(
            stderr.contains("3 processes in ") && stderr.contains("have heap snapshots\n"),
            "{stderr}"
        );
        for recording in &recordings {
            let name = recording.file_stem().and_then(|name| name.to_str()).expect("a name");
            let pid = name.rsplit('-').next().expect("a number");
            assert!(stderr.contains(&format!("--process {pid} (family_apart)")), "{stderr}");
        }
    }
}
