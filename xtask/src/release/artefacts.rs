//! A release under way.

use std::path::PathBuf;

/// Facts about it that each step needs.
pub(super) struct Release {
    pub(super) version: String,
    /// The static launcher.
    pub(super) launcher: PathBuf,
    /// The folder of the artefacts.
    pub(super) folder: PathBuf,
    /// A folder for downloads, which stay for the next time.
    pub(super) cache: PathBuf,
}
