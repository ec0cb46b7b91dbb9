//! The reasons that a file of a lake cannot be written or read.

use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

use crate::schema::SCHEMA;

/// The reason that a file of a lake cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The action, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: ParquetError,
    },
    /// A file is no Parquet file, or damaged.
    #[error("cannot read {}: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason, with the offset if it is known.
        source: ParquetError,
    },
    /// A Parquet file that memtrail did not write.
    #[error("{} is no table of memtrail's", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A recording that is in a compacted file already.
    #[error("the recording is in {} since the lake was compacted", path.display())]
    Compacted {
        /// The file.
        path: PathBuf,
    },
    /// A file of a later memtrail.
    #[error("{} has schema {found}, this memtrail reads up to {SCHEMA}", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u64,
    },
}

impl Error {
    /// The error of an action on a file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }

    /// The error of writing a file.
    pub(crate) fn write(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Write { path, source }
    }

    /// The error of reading a file.
    pub(crate) fn damaged(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Damaged { path, source }
    }
}
