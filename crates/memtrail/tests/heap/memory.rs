//! `--memory` on every command that reads a snapshot: the same answers within a limit.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Held;

/// Commands, with `REC` for the recording, `FIRST` for its first snapshot and `OUT` for a file.
const COMMANDS: &[&str] = &[
    "heap info REC",
    "heap roots REC",
    "heap roots REC Heap_held",
    "heap roots REC --retained",
    "heap joint REC",
    "heap growth REC",
    "heap diff REC",
    "heap sites REC",
    "heap survivors REC",
    "heap stack REC --all",
    "heap dominators REC",
    "heap histogram REC",
    "heap histogram REC --by owner",
    "heap containers REC",
    "heap path REC --kind string",
    "heap path REC --block 0 --all",
    "heap block REC 0",
    "heap blocks REC kind:string",
    "heap retained REC --kind string",
    "heap shared REC global stack",
    "heap strings REC",
    "leaks REC",
    "why REC Heap_held",
    "who REC string",
    "diff FIRST REC",
    "check --no-leak --allow-undecided --recording REC",
    "top REC --once",
    "html REC -o OUT --max-size 8M",
];

/// Removes what earlier analyses left, so that the snapshot is analysed anew.
fn forget(recording: &Path) {
    for entry in fs::read_dir(recording).unwrap() {
        let path = entry.unwrap().path();
        let end = path.extension().unwrap_or_default();
        if ["index", "types", "summary"].iter().any(|left| end == *left) {
            fs::remove_file(path).unwrap();
        }
    }
}

/// `leaks`, `why`, `who`, `diff`, `check`, `html`, `top` and half of the heap commands did not know the option.
#[test]
fn every_command_answers_the_same_within_a_limit() {
    let held = Held::sampled("1e-2", "system", &["--contents"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let ask = |command: &str, options: &[&str]| {
        forget(held.recording());
        let _ = fs::remove_file(&file);
        let words = command.split(' ').map(|word| match word {
            "REC" => held.recording().as_os_str().to_owned(),
            "FIRST" => held.recording().join("0001.heap").into_os_string(),
            "OUT" => file.clone().into_os_string(),
            word => OsString::from(word),
        });
        let mut memtrail = Command::new(env!("CARGO_BIN_EXE_memtrail"));
        let output = memtrail.env_remove("COLUMNS").args(words).args(options).output().unwrap();
        assert!(output.status.success(), "{command} {options:?}: {output:?}");
        (output, fs::read(&file).ok())
    };
    for command in COMMANDS {
        let (free, page) = ask(command, &[]);
        let (bounded, bounded_page) = ask(command, &["--memory", "300M"]);
        assert_eq!(free, bounded, "{command}");
        assert!(page == bounded_page, "{command}");
        assert_eq!(page.is_some(), command.contains("OUT"), "{command}");
    }
}
