//! A release under way.

use std::path::PathBuf;

/// What is being released.
pub(super) struct Release {
    pub(super) version: String,
    /// The static launcher.
    pub(super) launcher: PathBuf,
    /// Where artefacts are left.
    pub(super) folder: PathBuf,
    /// What is fetched, and stays for the next time.
    pub(super) cache: PathBuf,
}
