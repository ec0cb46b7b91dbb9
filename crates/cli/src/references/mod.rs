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
use crate::next_commands;
use crate::snapshot_file;

/// The files of a recording, by number.
pub(crate) fn of_recording(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<_> = entries
        .filter_map(|entry| Some((number_of_file(entry.file_name().to_str()?)?, entry.path())))
        .collect();
    all.sort();
    all
}

/// Says if there are references of a heap snapshot.
pub(crate) fn has_of_snapshot(recording: &Recording, number: u64) -> bool {
    of_recording(&recording.path).iter().any(|(known, _)| *known == number)
}

/// The last file of a recording, or `None` if there is none; the one with a number, if that is wanted.
fn wanted_file(folder: &Path, wanted: Option<&str>) -> Result<Option<(u64, PathBuf)>, Failure> {
    let mut all = of_recording(folder);
    let Some(wanted) = wanted else { return Ok(all.pop()) };
    let number: Option<u64> = wanted.parse().ok();
    if let Some(place) = all.iter().position(|(known, _)| Some(*known) == number) {
        return Ok(Some(all.swap_remove(place)));
    }
    let known: Vec<String> = all.iter().map(|(known, _)| known.to_string()).collect();
    let wanted = number.map_or(format!("{wanted:?}"), |number| number.to_string());
    Err(snapshot_file::no_such(folder, &wanted, &known))
}

/// Reads a file. An error is about this file: all else of the recording can be used.
fn read(path: &Path) -> Result<References, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(Kind::Input, format_args!("cannot read {}: {error}", path.display()))
            .hint("all else was used; what retains memory from malloc is not known")
    };
    let bytes = fs::read(path).map_err(|error| failed(&error))?;
    let mut references = References::read(&bytes).map_err(|error| failed(&error))?;
    // Of a program that still runs, variables have no names yet.
    naming::name(&mut references);
    Ok(references)
}

/// The number of a snapshot and its references, or why there are none.
pub(crate) type Found = Result<(u64, References), String>;

/// The references of a recording, if they were looked for.
pub(crate) fn found(recording: &Recording, wanted: Option<&str>) -> Result<Option<Found>, Failure> {
    let Some((number, path)) = wanted_file(&recording.path, wanted)? else {
        return Ok(why_none(recording).map(Err));
    };
    let found = read(&path).map(|references| (number, references));
    Ok(Some(found.map_err(|failure| failure.message().to_owned())))
}

/// Gives the engine the references of a recording, or why there are none, if they were looked for. Returns the error about a file
/// that cannot be read.
pub(crate) fn give(
    engine: &Engine,
    id: RecordingId,
    recording: &Recording,
    wanted: Option<&str>,
) -> Result<Option<Failure>, Failure> {
    let Some((number, path)) = wanted_file(&recording.path, wanted)? else {
        if let Some(reason) = why_none(recording) {
            engine.set_references(id, Err(reason));
        }
        return Ok(None);
    };
    match read(&path) {
        Ok(references) => {
            engine.set_references(id, Ok((number, references)));
            Ok(None)
        }
        Err(failure) => {
            engine.set_references(id, Err(failure.message().to_owned()));
            Ok(Some(failure))
        }
    }
}

/// Why a native program that was to be looked at was not. One that came to its end before the time of its first snapshot is
/// judged as without.
fn why_none(recording: &Recording) -> Option<String> {
    let known = recording.description.as_ref().filter(|known| known.runtime.is_native())?;
    let failed =
        known.snapshots.as_ref()?.iter().rev().find_map(|snapshot| match &snapshot.outcome {
            SnapshotOutcome::Failed { reason } => Some(format!("the snapshot failed: {reason}")),
            SnapshotOutcome::Complete { .. } => None,
        });
    failed.or_else(|| known.outcome.is_none().then(|| "no snapshot was taken yet".to_owned()))
}

/// The failure of a command that needs the references of a native program whose recording has none.
pub(crate) fn none(recording: &Recording) -> Failure {
    let why = why_none(recording).map_or_else(String::new, |why| format!(": {why}"));
    let message = format_args!("{} has no snapshot{why}", recording.path.display());
    Failure::new(Kind::Input, message).hint(next_commands::native_snapshot(recording))
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
