//! A snapshot's file, with the names of global variables for the engine.

use std::io;
use std::sync::Arc;

use memtrail_engine::{Bytes, SnapshotFile};
use memtrail_heap::graph::Graph;
use memtrail_heap::query::Heap;
use memtrail_heap::read::Snapshot;
use memtrail_types::Types;

use super::variables;

#[derive(Debug)]
pub(super) struct NamedSnapshot {
    pub(super) file: Arc<dyn SnapshotFile>,
    pub(super) types: Types,
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

    fn summary(&self) -> Option<Vec<u8>> {
        self.file.summary()
    }

    fn keep_summary(&self, json: &[u8]) {
        self.file.keep_summary(json);
    }

    fn name_roots(&self, heap: &mut Heap<'_>) {
        // A damaged section is reported by the query that reads it.
        let _ = variables::name(heap, &self.types);
    }
}
