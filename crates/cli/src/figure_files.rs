//! The files of figures that lie beside a trace: what is wrong with them. What stands before an unreadable line is right
//! all the same, and is used.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use memtrail_recording::LineError;
use memtrail_recording::Recording;
use memtrail_recording::collections::{self, COLLECTIONS_FILE};
use memtrail_recording::memory::{self, MEMORY_FILE};
use memtrail_recording::rates::Rates;

type Check = fn(&[u8]) -> Option<LineError>;

/// What is damaged of a recording, a sentence each; nothing of several processes.
pub(crate) fn damaged(recording: &Recording) -> Vec<String> {
    if recording.is_merged() || recording.description.is_none() {
        return Vec::new();
    }
    let files: [(PathBuf, Check); 3] = [
        (recording.path.join(MEMORY_FILE), |bytes| memory::parse(bytes).1),
        (recording.path.join(COLLECTIONS_FILE), |bytes| collections::parse(bytes).1),
        (recording.rates.clone(), |bytes| Rates::parse(bytes).1),
    ];
    files.iter().filter_map(|(path, check)| problem(path, *check)).collect()
}

fn problem(path: &Path, check: Check) -> Option<String> {
    match std::fs::read(path) {
        Ok(bytes) => check(&bytes).map(|error| format!("{} is damaged: {error}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => Some(format!("cannot read {}: {error}", path.display())),
    }
}
