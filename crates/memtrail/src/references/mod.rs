//! Files of references to blocks from `malloc`: read, named, and shown.

pub(crate) mod draw;
mod naming;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memtrail_engine::{Engine, RecordingId};
use memtrail_recording::{Recording, SnapshotOutcome};
use memtrail_references::{References, number_of_file};

use crate::error::{Failure, Kind};

/// The files of a recording, by number.
pub(crate) fn of_recording(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<_> = entries
        .filter_map(|entry| Some((number_of_file(entry.file_name().to_str()?)?, entry.path())))
        .collect();
    all.sort();
    all
}

/// Gives the engine the references of a heap snapshot. Whether there are any.
pub(crate) fn give_of_snapshot(
    engine: &Engine,
    id: RecordingId,
    recording: &Recording,
    number: u64,
) -> Result<bool, Failure> {
    if of_recording(&recording.path).iter().all(|(known, _)| *known != number) {
        return Ok(false);
    }
    give(engine, id, recording, Some(&number.to_string()))?;
    Ok(true)
}

/// Reads the last file of a recording, or the one with a number, and gives its number; `None` if there is none at all.
pub(crate) fn open(
    folder: &Path,
    wanted: Option<&str>,
) -> Result<Option<(u64, References)>, Failure> {
    let all = of_recording(folder);
    let Some(last) = all.last() else { return Ok(None) };
    let (number, path) = match wanted {
        None => last,
        Some(wanted) => {
            let number: Option<u64> = wanted.parse().ok();
            let found = all.iter().find(|(known, _)| Some(*known) == number);
            let missing = || {
                let folder = folder.display();
                Failure::new(Kind::Input, format_args!("no snapshot {wanted:?} in {folder}"))
            };
            found.ok_or_else(missing)?
        }
    };
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(Kind::Input, format_args!("cannot read {}: {error}", path.display()))
    };
    let bytes = fs::read(path).map_err(|error| failed(&error))?;
    let mut references = References::read(&bytes).map_err(|error| failed(&error))?;
    // Of a program that still runs, variables have no names yet.
    naming::name(&mut references);
    Ok(Some((*number, references)))
}

/// The number of a snapshot and its references, or why there are none.
pub(crate) type Found = Result<(u64, References), String>;

/// The references of a recording, if they were looked for.
pub(crate) fn found(recording: &Recording, wanted: Option<&str>) -> Result<Option<Found>, Failure> {
    Ok(match open(&recording.path, wanted)? {
        Some(found) => Some(Ok(found)),
        None => why_none(recording).map(Err),
    })
}

/// Gives the engine the references of a recording, or why there are none, if they were looked for.
pub(crate) fn give(
    engine: &Engine,
    id: RecordingId,
    recording: &Recording,
    wanted: Option<&str>,
) -> Result<(), Failure> {
    if let Some(found) = found(recording, wanted)? {
        engine.set_references(id, found);
    }
    Ok(())
}

/// Why a native program that was to be looked at was not.
fn why_none(recording: &Recording) -> Option<String> {
    let known = recording.description.as_ref().filter(|known| known.runtime.is_native())?;
    let failed =
        known.snapshots.as_ref()?.iter().rev().find_map(|snapshot| match &snapshot.outcome {
            SnapshotOutcome::Failed { reason } => Some(format!("the snapshot failed: {reason}")),
            SnapshotOutcome::Complete { .. } => None,
        });
    Some(failed.unwrap_or_else(|| "no snapshot was taken".to_owned()))
}

/// Writes names into all files of a recording: it is then read without the program.
pub(crate) fn name_files(folder: &Path) -> io::Result<()> {
    for (_, path) in of_recording(folder) {
        let bytes = fs::read(&path)?;
        let mut references = References::read(&bytes).map_err(io::Error::other)?;
        if naming::name(&mut references) {
            let fresh = path.with_extension("named");
            fs::write(&fresh, references.to_bytes())?;
            fs::set_permissions(&fresh, fs::metadata(&path)?.permissions())?;
            fs::rename(&fresh, &path)?;
        }
    }
    Ok(())
}
