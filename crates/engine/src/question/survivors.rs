//! Blocks that were alive in one snapshot of a process and still are in a later one, over processes.

use memtrail_heap::Bytes;
use memtrail_order::SortRows as _;

use super::family::Member;
use super::merge::{FamilyForm, Merge};
use super::selection::Selection;
use super::sites::{SiteKey, rounded};
use super::summed::{SumRow, are_of_family, merge_rows, name_rows, order_parts};
use crate::heap::{Part, SurvivorPart, SurvivorRow, SurvivorsResponse};
use crate::query::SurvivorOrder;

impl Merge for SurvivorsResponse {
    type Order = SurvivorOrder;

    const OF_FAMILY: FamilyForm = FamilyForm::SumAndEach;

    fn name_process(&mut self, process: &Member) {
        name_rows(&mut self.rows, process);
        self.count = self.rows.len();
        (self.from, self.to, self.from_at, self.to_at) = (None, None, None, None);
    }

    fn merge(&mut self, other: Self) {
        self.survived += other.survived;
        self.freed += other.freed;
        self.added += other.added;
        self.unknown += other.unknown;
        merge_rows(&mut self.rows, other.rows);
        self.count = self.rows.len();
    }

    fn finish(&mut self, selection: &Selection<SurvivorOrder>) {
        let rows = &mut self.rows;
        if are_of_family(rows) {
            match selection.order {
                SurvivorOrder::Survived => rows.sort_rows_by_key(|row| row.survived.descending()),
                SurvivorOrder::Added => rows.sort_rows_by_key(|row| row.added.descending()),
                SurvivorOrder::Oldest => rows.sort_rows_by(|a, b| oldest(a).total_cmp(&oldest(b))),
            }
            for row in &mut *rows {
                let before = row.survived.bytes.value + row.freed.bytes.value;
                row.survival = (before > 0.0).then(|| row.survived.bytes.value / before);
            }
        }
        selection.cut(rows);
        self.left_out = self.count - rows.len();
        order_parts(rows);
    }

    fn size(&self) -> Bytes {
        let all = [&self.survived, &self.freed, &self.added].map(|of| of.bytes.value);
        Bytes(all.iter().sum::<f64>().round() as u64)
    }
}

/// The moment when half of what survived had been allocated, in the process in which that was first.
fn oldest(row: &SurvivorRow) -> f64 {
    let parts = row.processes.iter().filter_map(|part| part.figures.survived.allocated);
    parts.map(|[_, half, _]| half).fold(f64::INFINITY, f64::min)
}

impl SumRow for SurvivorRow {
    type Key = SiteKey;
    type Figures = SurvivorPart;

    fn key(&self) -> SiteKey {
        (self.name.clone(), self.file.clone(), self.line)
    }

    fn figures(&self) -> SurvivorPart {
        let [survived, freed, added] = [&self.survived, &self.freed, &self.added].map(Clone::clone);
        SurvivorPart { survived, freed, added }
    }

    fn size(figures: &SurvivorPart) -> u64 {
        rounded(figures.survived.bytes + figures.added.bytes)
    }

    fn add(&mut self, other: Self) {
        self.survived += other.survived;
        self.freed += other.freed;
        self.added += other.added;
    }

    fn parts(&mut self) -> &mut Vec<Part<SurvivorPart>> {
        &mut self.processes
    }
}
