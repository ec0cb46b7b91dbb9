//! Types of a recording, searched for when they are first needed.

use std::path::Path;

use super::search::search_and_store;
use crate::error::Failure;
use crate::snapshot_file::of_recording;
use crate::snapshot_file::stored::{StoredTypes, stored_earlier};

/// Reads what is stored of types in a recording. If nothing is, and there are snapshots, it is searched and stored first.
pub(crate) fn stored(folder: &Path) -> Result<Option<StoredTypes>, Failure> {
    let stored = stored_earlier(folder)?;
    if stored.is_some() || of_recording(folder).is_empty() {
        return Ok(stored);
    }
    search_and_store(folder);
    stored_earlier(folder)
}

/// Searches for what is not stored yet, before the recording is described: which units are a library's is stored, too.
pub(crate) fn look_up(folder: &Path) {
    // Readers report files that they cannot read.
    let _ = stored(folder);
}
