//! Allocation sites of blocks that are alive, over processes.

use memtrail_order::SortRows as _;
use memtrail_stats::Estimate;

use super::family::Member;
use super::merge::{FamilyForm, Merge};
use super::selection::Selection;
use super::summed::{SumRow, are_of_family, merge_rows, name_rows, order_parts};
use crate::heap::{Part, SamplesResponse, SitePart, SiteRow};
use crate::query::SiteOrder;

impl Merge for SamplesResponse {
    type Order = SiteOrder;

    const OF_FAMILY: FamilyForm = FamilyForm::Sum;

    fn name_process(&mut self, process: &Member) {
        name_rows(&mut self.rows, process);
        self.count = self.rows.len();
    }

    fn merge(&mut self, other: Self) {
        self.sampled += other.sampled;
        self.unreachable += other.unreachable;
        self.unknown += other.unknown;
        self.coverage = sum(self.coverage, other.coverage);
        self.alive += other.alive;
        merge_rows(&mut self.rows, other.rows);
        self.count = self.rows.len();
    }

    fn finish(&mut self, selection: &Selection<SiteOrder>) {
        let rows = &mut self.rows;
        if are_of_family(rows) {
            let size = |row: &SiteRow| match selection.order {
                SiteOrder::Alive => row.alive.value,
                SiteOrder::Retained => row.retained.0 as f64,
            };
            rows.sort_rows_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
            for row in &mut *rows {
                row.share = share(row.alive, self.alive);
            }
        }
        selection.cut(rows);
        self.left_out = self.count - rows.len();
        order_parts(rows);
    }
}

/// The sum, if it is known of both.
pub(super) fn sum<T: std::ops::AddAssign>(known: Option<T>, more: Option<T>) -> Option<T> {
    let (mut sum, more) = known.zip(more)?;
    sum += more;
    Some(sum)
}

/// The part of an estimate in another.
pub(super) fn share(part: Estimate, whole: Estimate) -> f64 {
    if whole.value > 0.0 { part.value / whole.value } else { 0.0 }
}

/// A size by which parts are put in order.
pub(super) fn rounded(size: Estimate) -> u64 {
    size.value.round() as u64
}

/// A place in the program: a function, and its file and line if they are known.
pub(super) type SiteKey = (String, Option<String>, Option<u32>);

impl SumRow for SiteRow {
    type Key = SiteKey;
    type Figures = SitePart;

    fn key(&self) -> SiteKey {
        (self.name.clone(), self.file.clone(), self.line)
    }

    fn figures(&self) -> SitePart {
        SitePart { alive: self.alive }
    }

    fn size(figures: &SitePart) -> u64 {
        rounded(figures.alive)
    }

    fn add(&mut self, other: Self) {
        self.alive += other.alive;
        self.alive_blocks += other.alive_blocks;
        self.blocks += other.blocks;
        self.bytes += other.bytes;
        self.retained += other.retained;
    }

    fn parts(&mut self) -> &mut Vec<Part<SitePart>> {
        &mut self.processes
    }
}
