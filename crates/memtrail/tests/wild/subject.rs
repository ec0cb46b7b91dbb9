//! A program of somebody else's with its inputs, run alone and recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use memtrail_recording::{Recording, Snapshot, SnapshotOutcome};
use memtrail_test_support::running::{Case, Recorded, Seen};

/// How they are recorded: at two rates, and with their calls of malloc.
pub(crate) const WAYS: [&[&str]; 3] =
    [&["--rate", "1e-4"], &["--rate", "1e-2"], &["--native=also", "--rate", "1e-2"]];

pub(crate) struct Subject {
    program: PathBuf,
    arguments: Vec<String>,
    inputs: Vec<(String, String)>,
}

/// Files by name, with what is in them.
type Files = BTreeMap<PathBuf, Vec<u8>>;

impl Subject {
    pub(crate) fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Subject {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Subject { program: program.into(), arguments, inputs: Vec::new() }
    }

    /// A file that it reads.
    pub(crate) fn input(mut self, name: &str, text: &str) -> Subject {
        self.inputs.push((name.to_owned(), text.to_owned()));
        self
    }

    /// Run alone and in each way with snapshots: output, exit and files are the same, and the
    /// recordings can be read.
    pub(crate) fn same(&self) {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut case = Case::command(&self.program, &arguments);
        let (alone, files) = self.run(&case, Case::plain);
        for way in WAYS {
            let options = [way, &["--snapshot", "every-major,exit", "--at-most", "3"]].concat();
            case = case.options(&options);
            let (recorded, left) = self.run(&case, Case::recorded);
            assert_eq!(recorded.seen, alone, "{} with {way:?}", self.program.display());
            assert_eq!(
                left.keys().collect::<Vec<_>>(),
                files.keys().collect::<Vec<_>>(),
                "files of {}",
                self.program.display()
            );
            for (name, bytes) in &files {
                assert!(left[name] == *bytes, "{} differs with {way:?}", name.display());
            }
            readable(&recorded);
        }
    }

    fn run<T>(&self, case: &Case, run: impl FnOnce(&Case) -> T) -> (T, Files) {
        let folder = case.folder.path();
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
                .expect("removed");
        }
        for (name, text) in &self.inputs {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        let result = run(case);
        let mut files = Files::new();
        collect(folder, folder, &mut files);
        (result, files)
    }
}

/// Dune's log and database hold times, and so does what coqc notes of proofs.
const HOLDS_TIMES: [&str; 4] = ["_build/log", "_build/.db", "_build/.digest-db", ".theory.aux"];

fn collect(root: &Path, folder: &Path, files: &mut Files) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = path.strip_prefix(root).expect("inside").to_path_buf();
        if path.is_dir() {
            collect(root, &path, files);
        } else if !HOLDS_TIMES.iter().any(|skipped| name == Path::new(skipped)) {
            files.insert(name, fs::read(&path).unwrap_or_default());
        }
    }
}

/// The recording is whole, its snapshots are, and both kinds of analysis read it.
pub(crate) fn readable(recorded: &Recorded) {
    let recording = &recorded.recording;
    let description = Recording::open(recording).expect("a recording").description.expect("one");
    assert_eq!(description.notes, [""; 0], "{}", recording.display());
    let snapshots: Vec<Snapshot> = description.snapshots.unwrap_or_default();
    assert!(!snapshots.is_empty(), "at its end at least");
    for snapshot in &snapshots {
        assert!(matches!(snapshot.outcome, SnapshotOutcome::Complete { .. }), "{snapshot:?}");
    }
    ask(&["report", "--json"], recording);
    ask(&["heap", "roots", "--json"], recording);
}

fn ask(words: &[&str], recording: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memtrail"));
    let output = command.args(words).arg(recording).output().expect("memtrail");
    let said = Seen { stdout: output.stdout, stderr: output.stderr, status: output.status };
    assert!(said.status.success(), "{words:?}: {said:?}");
    let _: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
}
