//! What differs between the blocks of two recordings, or of two filters: what was allocated by which
//! functions or sites, without what chance explains.

use memtrail_order::SortRows as _;
use memtrail_profile::calls::{Change, Status, compare_table};
use memtrail_profile::estimate::Estimate;
use serde::Serialize;

use crate::compare::{Side, side};
use crate::names::row;
use crate::query::Compare;

/// How the blocks of the second side differ from those of the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Bytes of all blocks of the first side, normalised.
    pub before: Estimate,
    /// The same, of the second side.
    pub after: Estimate,
    /// How `after` differs from `before`.
    pub status: Status,
    /// What differs, what differs most first.
    pub rows: Vec<DifferenceRow>,
    /// Rows that differ, of which `rows` may be only some.
    pub changed: usize,
    /// Rows that differ no more than chance makes them.
    pub same: usize,
}

/// What one function, site, module or file allocated itself. Bytes, normalised.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DifferenceRow {
    /// A function's or site's name, a module or a file.
    pub name: String,
    /// Its name on the first side, if its module was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// Source file, if one is known.
    pub file: Option<String>,
    /// Line of a site, from 1.
    pub line: Option<u32>,
    /// Bytes on the first side.
    pub before: Estimate,
    /// Bytes on the second side.
    pub after: Estimate,
    /// How `after` differs from `before`.
    pub status: Status,
}

/// Compares what each row allocated itself; at most `query.limit` rows are returned.
///
/// A row counts as changed if chance would make any of all rows differ as much once in a hundred
/// comparisons at most ([`Status::among`]).
pub(crate) fn difference(a: &Side<'_>, b: &Side<'_>, query: &Compare) -> Difference {
    let changes = compare_table(a.of_calls(), b.of_calls(), query.by.into());
    let all = changes.len();
    let status = |change: &Change| Status::among(change.own_before, change.own_after, all);
    let mut changed: Vec<(Change, Status)> = changes
        .into_iter()
        .map(|change| (change, status(&change)))
        .filter(|(_, status)| *status != Status::Same)
        .collect();
    let key = |change: &Change| {
        let (recording, label) = side(a, b, change);
        recording.entities.label_key(label)
    };
    let size = |change: &Change| (change.own_after.value - change.own_before.value).abs();
    changed.sort_rows_by(|(x, _), (y, _)| {
        size(y).total_cmp(&size(x)).then_with(|| key(x).cmp(key(y)))
    });
    let rows = changed.iter().take(query.limit).map(|(change, status)| {
        let (recording, label) = side(a, b, change);
        let name = row(&recording.entities, label);
        let earlier = change.first.map(|label| a.row_name(label));
        DifferenceRow {
            renamed_from: earlier.filter(|earlier| *earlier != name.label),
            name: name.label,
            file: name.file,
            line: name.line,
            before: change.own_before,
            after: change.own_after,
            status: *status,
        }
    });
    let (before, after) = (a.total(), b.total());
    Difference {
        before,
        after,
        status: Status::of(before, after),
        rows: rows.collect(),
        changed: changed.len(),
        same: all - changed.len(),
    }
}
