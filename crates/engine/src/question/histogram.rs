//! Blocks by type or kind.

use std::cmp::Reverse;

use memtrail_heap::Bytes;
use memtrail_heap::graph::RootNodeId;
use memtrail_heap::query::{self, AllocatedBy, AllocatedPart, Histogram, KindOrder, KindRow};
use memtrail_order::SortRows as _;
use serde::Serialize;

use super::family::{Member, Sizes};
use super::merge::{FamilyForm, Merge, Question};
use super::named;
use super::selection::Selection;
use super::summed::{SumRow, Summed, merge_rows, name_rows, order_parts};
use super::unanswered::Unanswered;
use super::view::View;
use crate::heap::Part;
use crate::heap::parts::add_fields;

/// How many blocks are there of each type or kind?
#[derive(Clone, Debug)]
pub struct HistogramQuestion {
    /// Count by type where it is known, not by kind alone.
    pub by_type: bool,
    /// Count blocks of these owners only, by a name or a part of names.
    pub owner: Option<String>,
    /// Rows that are wanted.
    pub selection: Selection<KindOrder>,
}

/// Blocks by type or kind.
#[derive(Clone, Debug, Serialize)]
pub struct KindHistogram {
    /// Types or kinds. What blocks retain in several processes is at least what the row says.
    pub rows: Vec<Summed<KindRow, KindPart>>,
    /// Rows that are left out.
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

/// Blocks of one kind in a process.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KindPart {
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

    fn selection(&self) -> Selection<KindOrder> {
        self.selection.clone()
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
pub(super) fn allocated_parts(
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
        let (rows, left_out) = (rows.into_iter().map(Summed::from).collect(), 0);
        Self { rows, left_out, blocks, bytes, unreachable_blocks, unreachable_bytes, external }
    }
}

impl Merge for KindHistogram {
    type Order = KindOrder;

    const OF_FAMILY: FamilyForm = FamilyForm::Sum;

    fn name_process(&mut self, process: &Member) {
        name_rows(&mut self.rows, process);
    }

    fn merge(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.bytes += other.bytes;
        self.external += other.external;
        let blocks = self.unreachable_blocks.zip(other.unreachable_blocks);
        self.unreachable_blocks = blocks.map(|(a, b)| a + b);
        let size = self.unreachable_bytes.zip(other.unreachable_bytes);
        self.unreachable_bytes = size.map(|(a, b)| a + b);
        merge_rows(&mut self.rows, other.rows);
    }

    fn finish(&mut self, selection: &Selection<KindOrder>) {
        selection.search(&mut self.rows, |row| vec![row.kind.as_str()]);
        // The largest come first; equal ones are in this order.
        self.rows.sort_rows_by(|a, b| a.largest_first(b));
        match selection.order {
            KindOrder::Bytes => {}
            KindOrder::Blocks => self.rows.sort_rows_by_key(|row| Reverse(row.blocks)),
            KindOrder::Retained => self.rows.sort_rows_by_key(|row| Reverse(row.retained)),
            KindOrder::External => self.rows.sort_rows_by_key(|row| Reverse(row.external)),
            KindOrder::Name => self.rows.sort_rows_by(|a, b| a.kind.cmp(&b.kind)),
        }
        self.left_out = selection.cut(&mut self.rows);
        order_parts(&mut self.rows);
        for row in &mut self.rows {
            row.allocated.sort_rows_by_key(|part| Reverse(part.bytes));
        }
    }

    fn sizes(&self, _view: &View<'_>) -> Result<Option<Sizes>, Unanswered> {
        let Self { blocks, bytes, external, .. } = *self;
        Ok(Some(Sizes { blocks, owned: bytes, owned_external: external }))
    }
}

impl SumRow for Summed<KindRow, KindPart> {
    type Key = String;
    type Figures = KindPart;

    fn key(&self) -> String {
        self.kind.clone()
    }

    fn figures(&self) -> KindPart {
        KindPart { blocks: self.blocks, bytes: self.bytes }
    }

    fn size(figures: &KindPart) -> u64 {
        figures.bytes.0
    }

    fn add(&mut self, more: Self) {
        // Blocks of which it was not computed retain themselves at least.
        self.retained = match (self.retained, more.retained) {
            (None, None) => None,
            (before, after) => Some(before.unwrap_or(self.bytes) + after.unwrap_or(more.bytes)),
        };
        self.blocks += more.blocks;
        self.bytes += more.bytes;
        self.external += more.external;
        self.shared_by = self.shared_by.map(|known| known + more.shared_by.unwrap_or(0));
        for part in more.row.allocated {
            add_allocated(&mut self.allocated, part);
        }
    }

    fn parts(&mut self) -> &mut Vec<Part<KindPart>> {
        &mut self.processes
    }
}

add_fields!(KindPart: blocks, bytes);

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
