//! What allocated the blocks of a snapshot that have no type, from the trace beside it.

use memtrail_engine::{Engine, Setting};
use memtrail_heap::graph::RootNodeId;
use memtrail_heap::query::{Catalogue, Heap, Histogram};
use memtrail_recording::Recording;

use super::input::{Input, with_spinner};
use crate::error::Failure;
use crate::loading;

/// Adds to kinds of blocks without a type what allocated most of them. A snapshot without samples or without a trace
/// stays as it is, as does one whose trace cannot be read: other commands report that.
pub(super) fn name(
    histogram: &mut Histogram,
    input: &Input,
    heap: &Heap<'_>,
    owners: Option<&[RootNodeId]>,
) -> Result<(), Failure> {
    if heap.snapshot.samples.is_empty() {
        return Ok(());
    }
    let Ok(recording) = Recording::open(input.folder()) else { return Ok(()) };
    if loading::is_snapshot_alone(&recording) {
        return Ok(());
    }
    let engine = Engine::new(Setting::default());
    let Ok(id) = loading::add(&engine, &recording) else { return Ok(()) };
    let message = "looking at sampled blocks".to_owned();
    let found = with_spinner(message, || {
        let catalogue = Catalogue::new(heap)?;
        let parts = engine.allocated_parts(id, heap, &catalogue, owners);
        Ok((catalogue, parts))
    });
    let (catalogue, parts) = found.map_err(|error| input.failure(&error))?;
    let mut parts = parts.map_err(|error| loading::refused(&error))?;
    for row in &mut histogram.rows {
        let kind = catalogue.find(&row.kind);
        row.allocated = kind.and_then(|kind| parts.remove(&kind)).unwrap_or_default();
    }
    Ok(())
}
