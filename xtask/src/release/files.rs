//! Files of artefacts: an error names the path.

use std::fs;
use std::path::Path;

use crate::command::Outcome;

/// Makes a folder anew.
pub(super) fn remake(folder: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("cannot make {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

/// Copies a file, with its mode, to a path whose folders are made.
pub(super) fn copy(from: &Path, to: &Path) -> Outcome {
    let copied = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(from, to));
    copied.map(drop).map_err(|error| format!("cannot copy to {}: {error}", to.display()))
}

/// Writes a text to a path whose folders are made.
pub(super) fn write(to: &Path, text: &str) -> Outcome {
    let written = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(to, text));
    written.map_err(|error| format!("cannot write {}: {error}", to.display()))
}
