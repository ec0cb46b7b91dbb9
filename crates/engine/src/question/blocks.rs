//! Blocks that match a filter, over processes.

use std::cmp::Reverse;

use super::family::Member;
use super::merge::{FamilyForm, Merge};
use super::selection::Selection;
use crate::heap::{BlockRow, BlocksResponse};
use crate::query::BlockSort;
use memtrail_order::SortRows as _;

impl Merge for BlocksResponse {
    type Order = BlockSort;

    const OF_FAMILY: FamilyForm = FamilyForm::Sum;

    fn name_process(&mut self, process: &Member) {
        for row in &mut self.rows {
            row.recording = Some(process.recording.clone());
            row.process = Some(process.name.clone());
        }
    }

    fn merge(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.count += other.count;
        self.listed += other.listed;
        self.size += other.size;
        self.of += other.of;
    }

    fn finish(&mut self, selection: &Selection<BlockSort>) {
        let rows = &mut self.rows;
        match selection.order {
            BlockSort::Retained => rows.sort_rows_by_key(|row| Reverse(row.retained)),
            BlockSort::Size => rows.sort_rows_by_key(|row| Reverse(row.size)),
            // Blocks of unknown age count as the youngest.
            BlockSort::Age => {
                let age = |row: &BlockRow| row.age.unwrap_or(-1.0);
                rows.sort_rows_by(|a, b| age(b).total_cmp(&age(a)));
            }
            BlockSort::Block => rows.sort_rows_by_key(|row| row.block),
            BlockSort::Name => rows.sort_rows_by(|a, b| a.kind.cmp(&b.kind)),
        }
        selection.cut(rows);
        self.left_out = self.count - rows.len();
    }
}
