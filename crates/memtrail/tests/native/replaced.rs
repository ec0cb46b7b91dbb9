//! Processes that become other programs, as those of `env`, pyenv and nvm do: the recording that the user named is of the
//! program that did the work, and recordings of the programs before it lead there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use memtrail_recording::PREDECESSORS;
use memtrail_test_support::contents::{read, recordings_in};
use memtrail_test_support::running::Case;

use super::{bytes, compile};

const OPTIONS: [&str; 5] = ["--native", "--rate", "1e-4", "--seed", "1"];

fn memtrail(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    command.current_dir(folder).args(words).output().expect("memtrail starts")
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The arguments of the image that a recording is of.
fn images(recording: &Path) -> String {
    read(recording).description.arguments.get(1).cloned().unwrap_or_default()
}

/// Seven recordings were beside each other, and `-o` named that of the first program.
#[test]
fn the_named_recording_is_of_the_program_that_did_the_work() {
    let program = compile("becomes.c", &[]);
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let path = program.path.to_str().unwrap();
    let words = [&["run"][..], &OPTIONS, &["-o", "p", "--", path, "nwnwn"]].concat();
    let output = memtrail(here, &words);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(7), "{text}");
    assert_eq!(names_in(here), ["p"], "{text}");
    assert_eq!(images(&here.join("p")), "wn");
    let (_, kept) = bytes(&read(&here.join("p")), "work");
    // Samples of a word each.
    assert!(kept > 100 * 8, "{kept}");
    let inside = recordings_in(&here.join("p").join(PREDECESSORS));
    assert_eq!(inside.iter().map(|path| images(path)).collect::<Vec<_>>(), ["wnwn"]);
    assert!(text.contains("memtrail: p is of program; process "), "{text}");
    assert!(text.contains(" was 5 programs, p/predecessors has one recording of others"), "{text}");
    assert!(text.contains(", 3 recordings without samples removed"), "{text}");
    assert!(text.contains("next: memtrail report p"), "{text}");
    // Nothing leads away from it.
    assert_eq!(memtrail(here, &["report", "p"]).stderr, b"");
    let predecessor = inside[0].strip_prefix(here).unwrap().to_str().unwrap().to_owned();
    leads_to(here, &predecessor, "p");
}

/// Checks that views of a recording name another one, and that the command of the hint works.
fn leads_to(folder: &Path, from: &str, to: &str) {
    let views: [&[&str]; 5] = [
        &["report", from],
        &["leaks", from],
        &["export", "--json", from],
        &["trace", "info", from],
        &["top", "--once", from],
    ];
    for view in views {
        let output = memtrail(folder, view);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let note = format!("memtrail: {from} ends where program became another program; ");
        assert_eq!(text.matches(&note).count(), 1, "{view:?}: {text}");
        let hint = text.lines().find_map(|line| line.strip_prefix("hint: memtrail "));
        assert_eq!(hint, Some(&*format!("report {to}")), "{view:?}: {text}");
    }
    let output = memtrail(folder, &["report", to]);
    assert!(output.status.success(), "{output:?}");
}

/// Without `-o` each program has a recording of its own name.
#[test]
fn recordings_of_programs_that_became_others_lead_to_them() {
    let program = compile("becomes.c", &[]);
    let case = Case::command(&program.path, &["wnwn"]).options(&OPTIONS);
    let (_, mut found) = case.recorded_in_folder();
    assert_eq!(found.len(), 4, "{found:?}");
    found.sort_by_key(|recording| std::cmp::Reverse(images(recording).len()));
    let folder = found[0].parent().unwrap().to_path_buf();
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let [first, second, third, last] = [0, 1, 2, 3].map(|number| name(&found[number]));
    leads_to(&folder, &first, &third);
    leads_to(&folder, &second, &third);
    // The last one did nothing, and has nothing after it.
    leads_to(&folder, &third, &last);
    assert_eq!(memtrail(&folder, &["report", &last]).stderr, b"");
}
