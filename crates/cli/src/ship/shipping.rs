//! A way to ship recordings.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::state::State;
use crate::error::Failure;

/// Ships recordings to one destination.
pub(super) trait Shipping {
    /// The destination, without secrets.
    fn destination(&self) -> String;

    /// Takes in recordings that are new. In a folder, one that cannot be shipped is named and left out.
    fn take_in(&mut self, recordings: &[PathBuf], is_folder: bool) -> Result<(), Failure>;

    /// Ships what is due. Gives the time to wait, if it is not the usual one.
    fn ship(&mut self) -> Option<Duration>;

    /// True if nothing more will come.
    fn all_ended(&self) -> bool;

    /// The state of a recording, if it is known.
    fn state(&self, recording: &Path) -> Option<&State>;

    /// Prints what was shipped, and gives the exit code.
    fn finish(&self) -> Result<ExitCode, Failure>;
}
