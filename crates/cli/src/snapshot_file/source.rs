//! Opens snapshots for an engine: with the names of variables of their recording, within a memory limit.

use std::path::Path;
use std::sync::Arc;

use memtrail_engine::{SnapshotFacts, SnapshotFile};

use super::file::File;
use super::list::facts;
use super::memory::MemoryArgs;
use super::stored::{self, StoredTypes};
use crate::types::lookup;

/// The snapshots of a recording, as an engine takes them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SnapshotFiles {
    stored: Option<Arc<StoredTypes>>,
    memory: MemoryArgs,
}

impl SnapshotFiles {
    /// Opens snapshots of a folder, with the names that `memtrail types` stored in it. If that cannot be read, it is reported, and fields have
    /// numbers.
    pub(crate) fn of_recording(folder: &Path, memory: MemoryArgs) -> Self {
        let stored = lookup::stored(folder).unwrap_or_else(|failure| {
            failure.report();
            None
        });
        Self { stored: stored.map(Arc::new), memory }
    }

    /// Opens snapshots outside a recording, without names of variables.
    pub(crate) fn alone(memory: MemoryArgs) -> Self {
        Self { stored: None, memory }
    }

    /// True if variables of units outside the standard library have names.
    pub(crate) fn have_names(&self) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored::has_names(&stored.types))
    }

    /// A snapshot; of one that cannot be read, the facts have the reason.
    pub(crate) fn open(
        &self,
        path: &Path,
        number: Option<u64>,
    ) -> (SnapshotFacts, Arc<dyn SnapshotFile>) {
        let file = File::new(path, self.stored.clone(), self.memory);
        (facts(path, number), Arc::new(file))
    }
}
