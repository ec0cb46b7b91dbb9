//! The view of a question: an opened snapshot, and the trace beside it.

use memtrail_heap::graph::{Failed, Place};
use memtrail_heap::query::{Catalogue, Heap};

use super::unanswered::Unanswered;
use crate::api_error::ApiError;
use crate::engine::{Engine, RecordingId};

/// An opened snapshot.
#[derive(Clone, Copy)]
pub struct View<'v> {
    /// The snapshot.
    pub heap: &'v Heap<'v>,
    /// Room for columns.
    pub place: &'v Place,
    /// The host that opened it.
    pub host: &'v dyn Host,
}

/// A trace, read.
#[derive(Debug)]
pub struct Trace {
    /// An engine that has it.
    pub engine: Engine,
    /// Its recording there.
    pub id: RecordingId,
}

/// A host that opens snapshots.
pub trait Host {
    /// The trace beside the snapshot; none of a snapshot without samples, or if the trace cannot be read.
    fn trace(&self, heap: &Heap<'_>) -> Option<Trace>;

    /// Opens the same snapshot with the types of its blocks, or without.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged, or there is no room for columns.
    fn heap(&self, typed: bool) -> Result<Heap<'_>, Failed>;

    /// Snapshots of the same recording that were asked for and not taken.
    fn snapshots_missing(&self) -> Vec<String>;

    /// Gives pages of the snapshot and its index back to the system.
    fn give_back(&self, heap: &Heap<'_>);

    /// Shows that work goes on, if it takes long, until the result is dropped.
    fn show_work(&self, what: &'static str) -> Box<dyn std::any::Any>;
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("blocks", &self.heap.snapshot.blocks()).finish_non_exhaustive()
    }
}

impl View<'_> {
    /// Does something that may take long.
    pub fn work<T>(&self, what: &'static str, work: impl FnOnce() -> T) -> T {
        let _shown = self.host.show_work(what);
        work()
    }

    /// Calls `query` with the trace and the kinds of all blocks; returns nothing without a trace.
    pub(super) fn with_trace<T>(
        &self,
        query: impl FnOnce(&Trace, &Catalogue) -> Result<T, ApiError>,
    ) -> Result<Option<T>, Unanswered> {
        let Some(trace) = self.host.trace(self.heap) else { return Ok(None) };
        self.work("looking at sampled blocks", || {
            self.host.give_back(self.heap);
            let catalogue = Catalogue::new(self.heap)?;
            // It has what is asked of the snapshot, and little of the graph is.
            self.host.give_back(self.heap);
            Ok(Some(query(&trace, &catalogue)?))
        })
    }
}
