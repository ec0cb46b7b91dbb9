//! A snapshot's file, with the names of global variables for the engine.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use std::sync::Arc;

use memtrail_engine::{Bytes, SnapshotFile};
use memtrail_heap::graph::Graph;
use memtrail_heap::query::Heap;
use memtrail_heap::read::Snapshot;
use memtrail_types::Types;

use super::{typed, variables};

#[derive(Debug)]
struct NamedSnapshot {
    file: Arc<dyn SnapshotFile>,
    types: Arc<Types>,
    checksum: u64,
}

/// Names of a recording's global variables, for its snapshots.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableNames(Option<(Arc<Types>, u64)>);

impl VariableNames {
    /// What `memtrail types` stored in the recording. If that cannot be read, it is reported, and
    /// fields have numbers.
    pub(crate) fn of_recording(folder: &Path) -> Self {
        let types = variables::stored(folder).unwrap_or_else(|failure| {
            failure.report();
            None
        });
        Self(types.map(|types| {
            let mut checksum = DefaultHasher::new();
            types.to_bytes().hash(&mut checksum);
            (Arc::new(types), checksum.finish())
        }))
    }

    /// The snapshot with these names.
    pub(crate) fn name(&self, file: Arc<dyn SnapshotFile>) -> Arc<dyn SnapshotFile> {
        match &self.0 {
            Some((types, checksum)) => {
                Arc::new(NamedSnapshot { file, types: Arc::clone(types), checksum: *checksum })
            }
            None => file,
        }
    }
}

impl SnapshotFile for NamedSnapshot {
    fn open(&self) -> io::Result<Bytes> {
        self.file.open()
    }

    fn index(&self, snapshot: &Snapshot<'_>) -> Option<Graph> {
        self.file.index(snapshot)
    }

    fn keep_index(&self, write: &dyn Fn(&mut dyn io::Write) -> io::Result<()>) {
        self.file.keep_index(write);
    }

    fn types(&self) -> u64 {
        self.checksum
    }

    fn summary(&self) -> Option<Vec<u8>> {
        self.file.summary()
    }

    fn keep_summary(&self, json: &[u8]) {
        self.file.keep_summary(json);
    }

    fn name_roots(&self, heap: &mut Heap<'_>) {
        // A damaged section is reported by the query that reads it.
        let _ = variables::name(heap, &self.types);
        let _ = typed::find(heap, &self.types, None);
    }
}
