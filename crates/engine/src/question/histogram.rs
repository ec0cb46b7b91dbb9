//! Blocks by type or kind.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_heap::Bytes;
use memtrail_heap::graph::RootNodeId;
use memtrail_heap::query::{self, AllocatedBy, AllocatedPart, Histogram, KindRow};
use serde::Serialize;

use super::family::{Member, Sizes};
use super::merge::{Merge, Question, cut};
use super::named;
use super::unanswered::Unanswered;
use super::view::View;

/// How many blocks are there of each type or kind?
#[derive(Clone, Debug)]
pub struct HistogramQuestion {
    /// Count by type where it is known, not by kind alone.
    pub by_type: bool,
    /// Count blocks of these owners only, by a name or a part of names.
    pub owner: Option<String>,
    /// Maximum number of rows.
    pub limit: usize,
}

/// Blocks by type or kind.
#[derive(Debug, Serialize)]
pub struct KindHistogram {
    /// Types or kinds.
    pub rows: Vec<KindSum>,
    /// Rows that the limit left out.
    pub left_out: usize,
    /// Blocks that are reachable.
    pub blocks: u64,
    /// Their size.
    pub bytes: Bytes,
    /// Blocks that are unreachable and not freed yet; unknown if that is so of any process.
    pub unreachable_blocks: Option<u64>,
    /// Their size.
    pub unreachable_bytes: Option<Bytes>,
    #[serde(skip)]
    external: Bytes,
}

/// Blocks of one type or kind.
#[derive(Debug, Serialize)]
pub struct KindSum {
    /// Sums over all processes. What blocks retain is at least that.
    #[serde(flatten)]
    pub sum: KindRow,
    /// The processes of a family that have some, that of most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessPart>,
}

/// Blocks of one kind in a process.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessPart {
    /// The folder of its recording.
    pub recording: String,
    /// Blocks.
    pub blocks: u64,
    /// Their size.
    pub bytes: Bytes,
}

impl Question for HistogramQuestion {
    type Response = KindHistogram;

    fn needs_types(&self) -> bool {
        self.by_type
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn answer(&self, view: &View<'_>) -> Result<KindHistogram, Unanswered> {
        let heap = view.heap;
        let owner = self.owner.as_deref();
        let owners = owner.map(|name| named::owners_called(heap, name)).transpose()?;
        let counted = view.work("counting blocks", || match &owners {
            Some(owners) => query::owned_histogram(heap, owners),
            None => query::histogram(heap),
        });
        let mut histogram = counted?;
        if self.by_type {
            allocated_parts(view, &mut histogram, owners.as_deref())?;
        }
        Ok(histogram.into())
    }
}

/// Adds to kinds of blocks without a type what allocated most of them.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn allocated_parts(
    view: &View<'_>,
    histogram: &mut Histogram,
    owners: Option<&[RootNodeId]>,
) -> Result<(), Unanswered> {
    view.with_trace(|trace, catalogue| {
        let mut parts = trace.engine.allocated_parts(trace.id, view.heap, catalogue, owners)?;
        for row in &mut histogram.rows {
            let kind = catalogue.find(&row.kind);
            row.allocated = kind.and_then(|kind| parts.remove(&kind)).unwrap_or_default();
        }
        Ok(())
    })?;
    Ok(())
}

impl From<Histogram> for KindHistogram {
    fn from(histogram: Histogram) -> Self {
        let external = histogram.external();
        let Histogram { rows, blocks, bytes, unreachable_blocks, unreachable_bytes } = histogram;
        let rows = rows.into_iter().map(|sum| KindSum { sum, processes: Vec::new() }).collect();
        let left_out = 0;
        Self { rows, left_out, blocks, bytes, unreachable_blocks, unreachable_bytes, external }
    }
}

impl Merge for KindHistogram {
    fn name_process(&mut self, process: &Member) {
        for KindSum { sum, processes } in &mut self.rows {
            let recording = process.recording.clone();
            processes.push(ProcessPart { recording, blocks: sum.blocks, bytes: sum.bytes });
        }
    }

    fn merge(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.bytes += other.bytes;
        self.external += other.external;
        let blocks = self.unreachable_blocks.zip(other.unreachable_blocks);
        self.unreachable_blocks = blocks.map(|(a, b)| a + b);
        let size = self.unreachable_bytes.zip(other.unreachable_bytes);
        self.unreachable_bytes = size.map(|(a, b)| a + b);
        let known = self.rows.iter().enumerate();
        let places: HashMap<String, usize> =
            known.map(|(place, row)| (row.sum.kind.clone(), place)).collect();
        for row in other.rows {
            match places.get(&row.sum.kind) {
                Some(place) => self.rows[*place].add(row),
                None => self.rows.push(row),
            }
        }
    }

    fn finish(&mut self, limit: usize) {
        // The rows of one process are in order.
        if self.rows.iter().any(|row| !row.processes.is_empty()) {
            self.rows.sort_by(|a, b| a.sum.largest_first(&b.sum));
        }
        self.left_out = cut(&mut self.rows, limit);
        for row in &mut self.rows {
            row.processes.sort_by_key(|part| Reverse(part.bytes));
            row.sum.allocated.sort_by_key(|part| Reverse(part.bytes));
        }
    }

    fn sizes(&self) -> Option<Sizes> {
        let Self { blocks, bytes, external, .. } = *self;
        Some(Sizes { blocks, owned: bytes, owned_external: external })
    }
}

impl KindSum {
    fn add(&mut self, other: Self) {
        let (sum, more) = (&mut self.sum, other.sum);
        // Blocks of which it was not computed retain themselves at least.
        sum.retained = match (sum.retained, more.retained) {
            (None, None) => None,
            (before, after) => Some(before.unwrap_or(sum.bytes) + after.unwrap_or(more.bytes)),
        };
        sum.blocks += more.blocks;
        sum.bytes += more.bytes;
        sum.external += more.external;
        sum.shared_by = sum.shared_by.map(|known| known + more.shared_by.unwrap_or(0));
        for part in more.allocated {
            add_allocated(&mut sum.allocated, part);
        }
        self.processes.extend(other.processes);
    }
}

/// Adds what allocated blocks in one more process.
fn add_allocated(parts: &mut Vec<AllocatedPart>, more: AllocatedPart) {
    let key = |by: &AllocatedBy| (by.precision, by.name.clone(), by.file.clone(), by.line);
    match parts.iter_mut().find(|part| key(&part.by) == key(&more.by)) {
        None => parts.push(more),
        Some(part) => {
            part.blocks += more.blocks;
            part.bytes += more.bytes;
            part.by.samples += more.by.samples;
            part.by.of += more.by.of;
        }
    }
}
