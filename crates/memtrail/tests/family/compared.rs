//! Families compared with each other: sums over all processes.

use std::path::PathBuf;

use memtrail_test_support::compilers::named;
use memtrail_test_support::programs::build;
use memtrail_test_support::running::Case;
use serde_json::Value;

use super::{figure, json, memtrail, printed, recorded};

/// A copy of the string, and the element of the list that holds it.
const WORD: u64 = 14 * 8;
const WITH_ELEMENT: u64 = WORD + 3 * 8;

fn recorded_with(words: &str) -> (Case, PathBuf) {
    let case = Case::new(&build(&named("system"), "family_apart"), &[words]);
    let case = case.options(&["--rate", "1", "--children", "--snapshot", "exit"]);
    let (seen, recordings) = case.recorded_in_folder();
    assert!(seen.status.success() && recordings.len() == 3, "{seen:?} {recordings:?}");
    let family = recordings[0].parent().expect("a folder").to_path_buf();
    (case, family)
}

fn change<'v>(of: &'v Value, name: &str) -> Option<&'v Value> {
    of.as_array().expect("changes").iter().find(|row| row["name"] == name)
}

fn pair(of: &Value) -> [u64; 2] {
    [0, 1].map(|side| of[side].as_u64().unwrap_or_else(|| panic!("{of:#}")))
}

#[test]
fn families_are_compared_by_sums_over_their_processes() {
    // In the second the first fork keeps a hundred strings more.
    let (_first, before) = recorded_with("030");
    let (_second, after) = recorded_with("130");
    let path = before.to_str().expect("UTF-8");
    let whole = json(&["heap", "diff", "--limit", "0", "--json", path], &after);
    let strings = change(&whole["kinds"], "string").unwrap_or_else(|| panic!("{whole:#}"));
    let [from, to] = pair(&strings["blocks"]);
    assert_eq!(to - from, 100);
    let [from, to] = pair(&strings["bytes"]);
    assert_eq!(to - from, 100 * WORD);
    let [from, to] = pair(&whole["bytes"]);
    assert_eq!(to - from, 100 * WITH_ELEMENT);
    let owners = whole["owners"].as_array().expect("owners");
    assert_eq!(owners.len(), 1, "one variable alone changed: {owners:#?}");
    let [from, to] = pair(&owners[0]["bytes"]);
    assert_eq!(to - from, 100 * WITH_ELEMENT);

    for side in [0, 1] {
        let processes = whole["processes"][side].as_array().expect("processes");
        let sum: u64 = processes.iter().map(|process| figure(process, "bytes")).sum();
        assert_eq!((processes.len(), sum), (3, pair(&whole["bytes"])[side]));
        let info = json(&["heap", "info", "--json"], [&before, &after][side]);
        assert_eq!(sum, figure(&info["all"], "owned"));
    }
    let programs = whole["programs"].as_array().expect("programs");
    assert_eq!(programs.len(), 1, "{programs:?}");
    assert_eq!(programs[0]["name"], "family_apart");
    assert_eq!(pair(&programs[0]["processes"]), [3, 3]);

    let text = printed(&["heap", "diff", "--width", "80", path], &after);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("family_apart") && text.contains("had then: that is counted"), "{text}");
    // So does `memtrail diff`, beside what was allocated.
    let both = json(&["diff", "--json", path], &after);
    assert_eq!(both["heap"]["bytes"], whole["bytes"]);
    let text = printed(&["diff", "--width", "80", path], &after);
    assert!(text.contains("heap snapshots") && text.contains("retained by all roots"), "{text}");

    // Without one of the processes.
    let one = whole["processes"][1][2]["recording"].as_str().expect("a recording");
    std::fs::remove_dir_all(one).unwrap();
    let fewer = json(&["heap", "diff", "--json", path], &after);
    assert_eq!(pair(&fewer["programs"][0]["processes"]), [3, 2]);
    let text = printed(&["heap", "diff", path], &after);
    assert!(text.contains("3 → 2"), "{text}");
}

#[test]
fn the_first_snapshots_of_processes_are_compared_with_their_last() {
    let options = ["--rate", "1", "--children", "--snapshot", "every-major,exit", "--at-most", "6"];
    let (_case, seen, family) = recorded("system", "growing_family", &options);
    assert!(seen.status.success(), "{seen:?}");
    let whole = json(&["heap", "diff", "--json"], &family);
    let mut sums = [0, 0];
    for process in whole["processes"][0].as_array().expect("processes") {
        let recording = PathBuf::from(process["recording"].as_str().expect("a recording"));
        let alone = json(&["heap", "diff", "--json"], &recording);
        let of = pair(&alone["bytes"]);
        sums = [sums[0] + of[0], sums[1] + of[1]];
    }
    assert_eq!(pair(&whole["bytes"]), sums);
    assert!(sums[1] > sums[0], "{sums:?}");

    // Where each has one only.
    let (_case, family) = recorded_with("030");
    let refused = memtrail(&["heap", "diff"], &family);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(stderr.contains("no process in ") && stderr.contains("two snapshots"), "{stderr}");
}
