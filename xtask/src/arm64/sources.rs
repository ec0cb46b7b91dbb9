//! Sources of the programs that the machine runs.

use std::path::{Path, PathBuf};

use crate::command::repository;

/// The files of a folder below this repository's `tests`.
pub(super) fn sources(name: &str) -> PathBuf {
    Path::new(repository()).join("tests").join(name)
}
