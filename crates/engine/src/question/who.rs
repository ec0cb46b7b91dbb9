//! Calls that allocated what a root owns, or the blocks of a type or kind, over processes.

use memtrail_heap::Bytes;
use memtrail_order::SortRows as _;

use super::family::Member;
use super::merge::{FamilyForm, Merge};
use super::selection::Selection;
use super::sites::{SiteKey, rounded, share};
use super::summed::{SumRow, are_of_family, merge_rows, name_rows, order_parts};
use crate::heap::{AlivePart, AllocatorRow, Part, WhoResponse};

impl Merge for WhoResponse {
    type Order = ();

    const OF_FAMILY: FamilyForm = FamilyForm::SumAndEach;

    fn name_process(&mut self, process: &Member) {
        name_rows(&mut self.rows, process);
        self.count = self.rows.len();
    }

    fn merge(&mut self, other: Self) {
        add_names(&mut self.names, other.names);
        self.size += other.size;
        self.external += other.external;
        self.alive += other.alive;
        merge_rows(&mut self.rows, other.rows);
        self.count = self.rows.len();
    }

    fn finish(&mut self, selection: &Selection) {
        let rows = &mut self.rows;
        if are_of_family(rows) {
            rows.sort_rows_by_cached_key(|row| {
                (row.alive.descending(), row.name.clone(), row.line)
            });
            for row in &mut *rows {
                row.share = share(row.alive.bytes, self.alive.bytes);
            }
        }
        selection.cut(rows);
        self.left_out = self.count - rows.len();
        order_parts(rows);
    }

    fn size(&self) -> Bytes {
        self.size + self.external
    }

    /// A root of a name comes before a type, and a type before a kind.
    fn rank(&self) -> u8 {
        match self.of {
            "owner" => 0,
            "type" => 1,
            _ => 2,
        }
    }
}

/// Adds names, each once.
pub(super) fn add_names(names: &mut Vec<String>, more: Vec<String>) {
    for name in more {
        if !names.contains(&name) {
            names.push(name);
        }
    }
}

impl SumRow for AllocatorRow {
    type Key = SiteKey;
    type Figures = AlivePart;

    fn key(&self) -> SiteKey {
        (self.name.clone(), self.file.clone(), self.line)
    }

    fn figures(&self) -> AlivePart {
        AlivePart { alive: self.alive.clone() }
    }

    fn size(figures: &AlivePart) -> u64 {
        rounded(figures.alive.bytes)
    }

    fn add(&mut self, other: Self) {
        self.alive += other.alive;
    }

    fn parts(&mut self) -> &mut Vec<Part<AlivePart>> {
        &mut self.processes
    }
}
