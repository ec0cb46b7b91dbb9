//! A snapshot's file, with the names of global variables for the engine.

use std::io;
use std::path::Path;
use std::sync::Arc;

use memtrail_engine::{Bytes, SnapshotFile};
use memtrail_heap::graph::{Failed, Graph};
use memtrail_heap::query::Heap;
use memtrail_heap::read::Snapshot;
use memtrail_heap::{BlockTypes, TypesSource};

use super::variables::StoredTypes;
use super::{typed, variables};

#[derive(Debug)]
struct NamedSnapshot {
    file: Arc<dyn SnapshotFile>,
    stored: Arc<StoredTypes>,
}

/// Names of a recording's global variables, for its snapshots.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableNames(Option<Arc<StoredTypes>>);

impl VariableNames {
    /// What `memtrail types` stored in the recording. If that cannot be read, it is reported, and
    /// fields have numbers.
    pub(crate) fn of_recording(folder: &Path) -> Self {
        let stored = variables::stored(folder).unwrap_or_else(|failure| {
            failure.report();
            None
        });
        Self(stored.map(Arc::new))
    }

    /// Whether variables of units outside the standard library have names.
    pub(super) fn has_any(&self) -> bool {
        self.0.as_ref().is_some_and(|stored| variables::has_names(&stored.types))
    }

    /// The snapshot with these names.
    pub(crate) fn name(&self, file: Arc<dyn SnapshotFile>) -> Arc<dyn SnapshotFile> {
        match &self.0 {
            Some(stored) => Arc::new(NamedSnapshot { file, stored: Arc::clone(stored) }),
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

    fn types_source(&self) -> TypesSource {
        self.stored.source
    }

    fn block_types(&self, snapshot: &mut Snapshot<'_>, source: TypesSource) -> Option<BlockTypes> {
        self.file.block_types(snapshot, source)
    }

    fn keep_block_types(&self, write: &dyn Fn(&mut dyn io::Write) -> io::Result<()>) {
        self.file.keep_block_types(write);
    }

    fn summary(&self) -> Option<Vec<u8>> {
        self.file.summary()
    }

    fn keep_summary(&self, json: &[u8]) {
        self.file.keep_summary(json);
    }

    fn name_roots(&self, heap: &mut Heap<'_>) {
        // A damaged section is reported by the query that reads it.
        let _ = variables::name(heap, &self.stored.types);
    }

    fn give_back(&self, heap: &mut Heap<'_>) {
        self.file.give_back(heap);
    }

    fn find_types(&self, heap: &mut Heap<'_>) -> Result<(), Failed> {
        typed::find(heap, &self.stored.types, None)
    }
}
