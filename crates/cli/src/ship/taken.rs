//! The recordings that are shipped, and those that cannot be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::error::Failure;

/// Recordings, each with what its destination keeps of it.
pub(super) struct Taken<T> {
    pub(super) recordings: BTreeMap<PathBuf, T>,
    /// Recordings that cannot be shipped; each was named.
    broken: BTreeSet<PathBuf>,
    /// The exit code of the last that was given up.
    pub(super) code: Option<ExitCode>,
}

impl<T> Taken<T> {
    pub(super) fn new() -> Self {
        Self { recordings: BTreeMap::new(), broken: BTreeSet::new(), code: None }
    }

    /// Opens recordings that are new. In a folder, one that cannot be shipped is named and left out.
    pub(super) fn take_in(
        &mut self,
        recordings: &[PathBuf],
        is_folder: bool,
        open: impl Fn(&Path) -> Result<T, Failure>,
    ) -> Result<(), Failure> {
        for path in recordings {
            if self.recordings.contains_key(path) || self.broken.contains(path) {
                continue;
            }
            match open(path) {
                Ok(opened) => drop(self.recordings.insert(path.clone(), opened)),
                Err(failure) if is_folder => self.give_up(path, &failure),
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Ships nothing more of a recording.
    pub(super) fn give_up(&mut self, path: &Path, failure: &Failure) {
        let message = format_args!("{}; {} is not shipped", failure.message(), path.display());
        self.code = Some(Failure::new(failure.kind(), message).report());
        self.recordings.remove(path);
        self.broken.insert(path.to_path_buf());
    }

    /// The paths of those that are shipped.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.recordings.keys().cloned().collect()
    }
}
