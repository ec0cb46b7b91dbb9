//! What was found for another process of the same program, in the same folder: the search takes seconds, and its result
//! is the same. One that found only a part is taken over between processes that ran when it was made, and not by
//! later ones: files may have been built since.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use memtrail_recording::Recording;
use memtrail_types::Types;

use super::subject::Subject;

/// Recordings of the program that are looked at, at most: of processes that each loaded other plugins none may do.
const MAX_LOOKED_AT: usize = 4;

/// The result that is stored in another recording of the same build, whose process had all units that this one has.
pub(super) fn found(subject: &Subject) -> Option<Types> {
    let (own, build_id) = (subject.recording.as_deref()?, subject.build_id.as_deref()?);
    let is_same = |folder: &PathBuf| {
        let known = Recording::open(folder).ok().and_then(|recording| recording.description);
        known.is_some_and(|known| known.build_id.as_deref() == Some(build_id))
    };
    let others: Vec<PathBuf> =
        with_types(own)?.into_iter().filter(is_same).take(MAX_LOOKED_AT).collect();
    let units: BTreeSet<Vec<u8>> = Subject::units(own).ok()??.into_iter().collect();
    let has_all = |folder: &PathBuf| {
        let theirs = Subject::units(folder).ok().flatten();
        theirs.is_some_and(|theirs| units.is_subset(&theirs.into_iter().collect()))
    };
    let own_start = Recording::open(own).ok()?.description?.clock.start_unix_us;
    others.into_iter().filter(has_all).find_map(|folder| {
        let file = folder.join(memtrail_types::FILE);
        let types = Types::read(&fs::read(&file).ok()?).ok()?;
        let is_as_new =
            || Some(microseconds(fs::metadata(&file).ok()?.modified().ok()?) > own_start);
        (types.is_complete() || is_as_new()?).then_some(types)
    })
}

fn microseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// The other recordings in the folder that a recording is in, where a result is stored.
fn with_types(own: &Path) -> Option<Vec<PathBuf>> {
    let own = fs::canonicalize(own).ok()?;
    let entries = fs::read_dir(own.parent()?).ok()?.flatten();
    let others = entries.map(|entry| entry.path());
    let others = others.filter(|path| *path != own && path.join(memtrail_types::FILE).is_file());
    let mut others: Vec<PathBuf> = others.collect();
    others.sort();
    Some(others)
}
