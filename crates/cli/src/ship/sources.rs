//! The recordings that are shipped: one, or all in a folder.

use std::path::{Path, PathBuf};

use memtrail_recording::family::Family;

use crate::error::Failure;

/// A recording, or those in a folder.
pub(super) fn recordings(path: &Path, is_folder: bool) -> Result<Vec<PathBuf>, Failure> {
    if !is_folder {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut all = members(path)?;
    for family in folders_within(path) {
        // Other folders may be there, which this user cannot read.
        all.extend(members(&family).unwrap_or_default());
    }
    Ok(all)
}

/// The recordings that a folder holds itself.
fn members(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let members = Family::open(path)?.into_iter().flat_map(|family| family.members);
    Ok(members.map(|member| path.join(&member.name)).collect())
}

/// The folders in a folder, in the order of their names: `run --children` makes one for its recordings.
fn folders_within(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// True for a folder that is no recording itself, and holds recordings or families of them, or nothing yet.
pub(super) fn is_folder_of_recordings(path: &Path) -> bool {
    let is_empty = || std::fs::read_dir(path).is_ok_and(|mut files| files.next().is_none());
    let is_family = |path: &Path| matches!(Family::open(path), Ok(Some(_)));
    let has_families = || folders_within(path).iter().any(|folder| is_family(folder));
    path.is_dir() && (is_empty() || is_family(path) || has_families())
}
