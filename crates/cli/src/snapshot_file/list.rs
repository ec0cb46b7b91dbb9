//! Lists the snapshots of a recording by their files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memtrail_engine::SnapshotFacts;
use memtrail_map::MappedFile;
use memtrail_recording::number_of_snapshot;

use crate::error::{Failure, Kind};

/// First bytes of every snapshot.
const MAGIC: &[u8] = b"MTHEAP";

/// True if a file is a heap snapshot.
pub(crate) fn is_snapshot(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let file =
        fs::File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut start));
    file.is_ok() && start == *MAGIC
}

/// The snapshots of a recording with their numbers, in their order.
pub(crate) fn of_recording(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let number = number_of_snapshot(entry.file_name().to_str()?)?;
            Some((number, entry.path()))
        })
        .collect();
    files.sort();
    files
}

/// The failure about a snapshot that a recording does not have; `known` are those that it has.
pub(crate) fn no_such(folder: &Path, wanted: &str, known: &[String]) -> Failure {
    let message = format_args!("no snapshot {wanted} in {}", folder.display());
    let failure = Failure::new(Kind::Input, message);
    if known.is_empty() {
        failure.hint("there is no snapshot; leave --snapshot out")
    } else {
        failure.hint(format_args!("there is {}", known.join(", ")))
    }
}

/// Facts about a snapshot; about one that cannot be read, the reason.
pub(crate) fn facts(path: &Path, number: Option<u64>) -> SnapshotFacts {
    let facts = MappedFile::open(path)
        .map_err(|error| error.to_string())
        .and_then(|map| SnapshotFacts::peek(&map).map_err(|error| error.to_string()));
    let mut facts = facts
        .unwrap_or_else(|error| SnapshotFacts { damage: Some(error), ..SnapshotFacts::default() });
    facts.number = number.unwrap_or(facts.number);
    facts
}
