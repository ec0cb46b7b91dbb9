//! The stored recordings that pages replay: `tests/recordings`.

use std::fs;
use std::path::Path;

use crate::command::{Outcome, repository};

/// Where recordings are stored, relative to the repository.
const STORED: &str = "tests/recordings";

/// Copies all stored recordings into a new folder.
pub(super) fn copy_to(folder: &Path) -> Outcome {
    copy(&repository().join(STORED), folder)
        .map_err(|e| format!("cannot copy {STORED} to {}: {e}", folder.display()))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
