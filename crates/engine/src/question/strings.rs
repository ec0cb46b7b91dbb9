//! Strings that are there several times.

use std::cmp::Reverse;

use memtrail_heap::Bytes;
use memtrail_heap::query::{self, Duplicate, StringOrder, StringSums, Strings};
use memtrail_order::SortRows as _;
use serde::Serialize;

use super::family::Member;
use super::merge::{FamilyForm, Merge, Question};
use super::selection::Selection;
use super::summed::{SumRow, Summed, are_of_family, merge_rows, name_rows, order_parts};
use super::unanswered::Unanswered;
use super::view::View;
use crate::api_error::ApiError;
use crate::heap::Part;
use crate::heap::parts::add_fields;

/// Which strings are there several times?
#[derive(Clone, Debug)]
pub struct StringsQuestion {
    /// Rows that are wanted.
    pub selection: Selection<StringOrder>,
}

/// Strings that are there several times. Of a family, several times in a process: in the others nothing can be saved.
#[derive(Clone, Debug, Serialize)]
pub struct DuplicateStrings {
    /// Sums over all strings.
    #[serde(flatten)]
    pub sums: StringSums,
    /// The strings.
    pub duplicates: Vec<Summed<Duplicate, StringPart>>,
    /// Rows that are left out.
    pub left_out: usize,
}

/// A string in a process.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StringPart {
    /// Copies of it.
    pub times: u64,
    /// Size of all copies but one.
    pub wasted: Bytes,
}

impl Question for StringsQuestion {
    type Response = DuplicateStrings;

    fn selection(&self) -> Selection<StringOrder> {
        self.selection.clone()
    }

    fn answer(&self, view: &View<'_>) -> Result<DuplicateStrings, Unanswered> {
        let strings = view.work("comparing strings", || query::strings(view.heap, usize::MAX))?;
        let Some(Strings { sums, duplicates }) = strings else {
            return Err(Unanswered::Missing(
                ApiError::bad("the snapshot has no contents of strings")
                    .hint("take one with them: memtrail run --snapshot exit --contents -- PROGRAM"),
            ));
        };
        Ok(DuplicateStrings {
            sums,
            duplicates: duplicates.into_iter().map(Summed::from).collect(),
            left_out: 0,
        })
    }
}

impl Merge for DuplicateStrings {
    type Order = StringOrder;

    const OF_FAMILY: FamilyForm = FamilyForm::SumAndEach;

    fn name_process(&mut self, process: &Member) {
        name_rows(&mut self.duplicates, process);
    }

    fn merge(&mut self, other: Self) {
        let more = other.sums;
        self.sums.strings += more.strings;
        self.sums.bytes += more.bytes;
        self.sums.contents += more.contents;
        self.sums.wasted += more.wasted;
        merge_rows(&mut self.duplicates, other.duplicates);
        self.sums.repeated = self.duplicates.len() as u64;
    }

    fn finish(&mut self, selection: &Selection<StringOrder>) {
        let rows = &mut self.duplicates;
        selection.search(rows, |row| vec![row.start.as_str()]);
        if are_of_family(rows) {
            let key = |row: &Summed<Duplicate, StringPart>| {
                (Reverse(row.wasted), row.start.clone(), row.length)
            };
            rows.sort_rows_by_cached_key(key);
        }
        match selection.order {
            StringOrder::Wasted => {}
            StringOrder::Times => rows.sort_rows_by_key(|row| Reverse(row.times)),
            StringOrder::Length => rows.sort_rows_by_key(|row| Reverse(row.length)),
            StringOrder::Name => rows.sort_rows_by(|a, b| a.start.cmp(&b.start)),
        }
        self.left_out = selection.cut(rows);
        order_parts(rows);
    }

    fn size(&self) -> Bytes {
        self.sums.wasted
    }
}

impl SumRow for Summed<Duplicate, StringPart> {
    type Key = u128;
    type Figures = StringPart;

    fn key(&self) -> u128 {
        self.hash
    }

    fn figures(&self) -> StringPart {
        StringPart { times: self.times, wasted: self.wasted }
    }

    fn size(figures: &StringPart) -> u64 {
        figures.wasted.0
    }

    fn add(&mut self, other: Self) {
        self.times += other.times;
        self.wasted += other.wasted;
    }

    fn parts(&mut self) -> &mut Vec<Part<StringPart>> {
        &mut self.processes
    }
}

add_fields!(StringPart: times, wasted);
