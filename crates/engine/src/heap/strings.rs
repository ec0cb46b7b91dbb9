//! The answer to [`HeapStrings`].

use memtrail_heap::query::{Duplicate, StringOrder, StringSums};
use memtrail_profile::calls::Pattern;
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use super::rows::Rows;
use crate::api_error::ApiError;
use crate::query::{HeapStrings, StringSort};

/// Strings that are there several times.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StringsResponse {
    /// Sums of all strings; none where the snapshot has no contents.
    pub strings: Option<StringTotals>,
    /// The rows that were queried, in their order.
    pub rows: Vec<StringRow>,
    /// How many rows there are.
    pub count: usize,
}

/// Sums of all strings.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StringTotals {
    /// Numbers and sizes.
    #[serde(flatten)]
    pub sums: StringSums,
    /// How many of the repeated strings are in the table.
    pub kept: usize,
}

/// A string that is there several times.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StringRow {
    /// Its figures.
    #[serde(flatten)]
    pub string: Duplicate,
    /// What all but one of them take up, of all strings.
    pub share: f64,
}

pub(super) fn strings(
    loaded: &LoadedSnapshot,
    query: &HeapStrings,
) -> Result<StringsResponse, ApiError> {
    let Some(strings) = loaded.strings()? else {
        return Ok(StringsResponse { strings: None, rows: Vec::new(), count: 0 });
    };
    let pattern = (!query.find.is_empty()).then(|| Pattern::text(&query.find));
    let wanted = |start: &str| pattern.as_ref().is_none_or(|pattern| pattern.matches(start));
    let rows = strings.select(wanted, query.sort.into(), query.descending);
    let count = rows.len();
    let mut bounds = Rows::new(query.limit);
    let shown = bounds.affordable(&rows[query.offset.min(count)..], |row| 160 + row.start.len());
    let rows = shown.iter().map(|row| StringRow {
        string: (*row).clone(),
        share: row.wasted.share_of(strings.sums.bytes),
    });
    let kept = strings.duplicates.len();
    let totals = StringTotals { sums: strings.sums, kept };
    Ok(StringsResponse { strings: Some(totals), rows: rows.collect(), count })
}

impl From<StringSort> for StringOrder {
    fn from(sort: StringSort) -> Self {
        match sort {
            StringSort::Wasted => Self::Wasted,
            StringSort::Times => Self::Times,
            StringSort::Length => Self::Length,
            StringSort::Name => Self::Name,
        }
    }
}
