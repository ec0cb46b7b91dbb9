//! The answer to `HeapStack`.

use memtrail_heap::query;
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use super::roots::{self, RootFigures};
use super::rows::Rows;

/// Maximum number of threads, frames and slots.
const MAX_FRAMES: usize = 5000;

/// What each stack frame retains.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StackResponse {
    /// Threads, with their frames, with their slots.
    pub rows: Vec<StackRow>,
    /// How many rows there are.
    pub count: usize,
}

/// A thread, a frame or a slot.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StackRow {
    /// Its figures.
    #[serde(flatten)]
    pub root: RootFigures,
    /// How deep it is in thread, frame, slot; 0 for a thread.
    pub depth: usize,
    /// Whether anything is below it.
    pub opens: bool,
}

pub(super) fn stack(loaded: &LoadedSnapshot) -> StackResponse {
    let heap = loaded.heap();
    let mut frames = query::stack(heap);
    // Not the kind of root itself.
    frames.retain(|root| root.label.is_some());
    let mut bounds = Rows::new(MAX_FRAMES);
    let affordable = bounds.affordable(&frames, roots::size);
    let rows = query::root_rows(heap, affordable, &loaded.reach);
    let rows = rows.iter().map(|row| StackRow {
        root: roots::figures(loaded, row),
        depth: row.path.len().saturating_sub(1),
        opens: row.parts > 0 || row.retained.0 > 0,
    });
    StackResponse { rows: rows.collect(), count: frames.len() }
}
