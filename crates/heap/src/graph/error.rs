//! Why an analysis fails.

use crate::read::{Cause, Error};

/// Why an analysis within bounded memory did not come to an end.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The snapshot is damaged.
    #[error(transparent)]
    Snapshot(#[from] Error),
    /// There is no room for the files that what does not fit into memory is put into.
    #[error("cannot put aside what does not fit into memory: {0}")]
    MappedArena(#[from] std::io::Error),
}

impl Failed {
    /// The same of an analysis whose columns are in memory, where there is always room for them.
    pub(crate) fn in_memory(self) -> Error {
        match self {
            Self::Snapshot(error) => error,
            Self::MappedArena(_) => Cause::Missing("memory").at(0),
        }
    }
}
