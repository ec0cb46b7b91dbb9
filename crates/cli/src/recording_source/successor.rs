//! Says of a recording that its process became another program, which did the work.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use memtrail_recording::{Recording, successor};

use crate::shell_quote;

/// Recordings of which it was said: commands open some of them twice.
static NOTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Notes on standard error that the process of a recording became another program, if that was recorded.
pub(crate) fn note(recording: &Recording) {
    let Some(next) = successor(recording) else { return };
    let is_new =
        NOTED.lock().unwrap_or_else(PoisonError::into_inner).insert(recording.path.clone());
    if !is_new {
        return;
    }
    let program = |of: &Recording| {
        let path = of.description.as_ref().map(|description| description.program.as_str());
        path.and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned()
    };
    let (shown, before, after) =
        (shell_quote::path(&recording.path), program(recording), program(&next));
    message!("memtrail: {shown} ends where {before} became another program; {after} did the work");
    message!("hint: memtrail report {}", shell_quote::path(&next.path));
}

/// The same of the recording in a folder, or of that of a snapshot.
pub(super) fn note_of(path: &Path) {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    if let Ok(recording) = Recording::open(folder) {
        note(&recording);
    }
}
