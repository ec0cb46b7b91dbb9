//! The answer to [`Compare`].

use memtrail_order::SortRows as _;
use memtrail_profile::calls::{self, Change, Label, Pattern, Status};
use memtrail_profile::estimate::Estimate;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::flame::limits;
use crate::names::{Budget, RowName, affordable, row, shown};
use crate::query::{ChangeSort, Compare, Normalise, Shape};
use crate::recording::Recording;
use crate::response_body::ResponseBody;
use crate::selection::FilterSelection;

/// All that a difference can be, in the order of the numbers in columns.
pub(crate) const STATUSES: [Status; 5] =
    [Status::Same, Status::New, Status::Gone, Status::Grown, Status::Shrunk];
/// Boxes at most: each may bring a name along.
const MAX_BOXES: usize = 4000;

/// Rows of a comparison. Columns: `before`, `after`, `delta`, `before_stderr`, `after_stderr`,
/// `self_before`, `self_after`, `blocks_before`, `blocks_after`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct CompareTableResponse<'a> {
    rows: Vec<ChangeRow<'a>>,
    /// Rows there are, of which these may be only some.
    count: usize,
    /// All of the first side, normalised.
    before: f64,
    /// All of the second side, normalised.
    after: f64,
}

/// What a row of a comparison is about.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct ChangeRow<'a> {
    #[serde(flatten)]
    name: RowName<'a>,
    status: Status,
}

/// The two flame graphs as one. Columns: `parent`, `name`, `before`, `after`, `status`, `more`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct CompareFlameResponse {
    names: Vec<String>,
    /// What the numbers in the column of statuses mean.
    statuses: Vec<Status>,
    /// All of the first side, normalised.
    before: f64,
    /// All of the second side, normalised.
    after: f64,
}

/// A side of the comparison.
pub(crate) struct Side<'a> {
    recording: &'a Recording,
    selection: std::sync::Arc<FilterSelection>,
    scale: f64,
}

impl<'a> Side<'a> {
    pub(crate) fn new(
        recording: &'a Recording,
        conditions: &[String],
        normalise: Normalise,
    ) -> Result<Self, ApiError> {
        let selection = recording.choose(conditions)?;
        let by = match normalise {
            Normalise::None => 1.0,
            Normalise::Duration => recording.profile().end.seconds(),
            Normalise::Allocated => recording.whole()?.sums.allocated.value,
        };
        // Nothing divided by anything is nothing.
        let scale = if by > 0.0 { 1.0 / by } else { 0.0 };
        Ok(Self { recording, selection, scale })
    }

    pub(crate) fn of_calls(&self) -> calls::Side<'_> {
        let estimator = &self.recording.profile().estimator;
        calls::Side {
            view: self.selection.view(&self.recording.entities),
            estimator,
            scale: self.scale,
        }
    }

    /// The name of a row of this side.
    pub(crate) fn row_name(&self, label: Label) -> String {
        row(&self.recording.entities, label).label
    }

    /// Everything on this side, scaled.
    pub(crate) fn total(&self) -> Estimate {
        let estimator = &self.recording.profile().estimator;
        estimator.bytes(&self.selection.selected.sum).scaled(self.scale)
    }
}

pub(crate) fn compare(a: &Side<'_>, b: &Side<'_>, query: &Compare) -> ResponseBody {
    match query.view {
        Shape::Table => table(a, b, query),
        Shape::Flame => flame(a, b, query),
    }
}

/// What a row is about, and whose numbers and names it has.
pub(crate) fn side<'a>(
    a: &'a Side<'a>,
    b: &'a Side<'a>,
    change: &Change,
) -> (&'a Recording, Label) {
    match (change.second, change.first) {
        (Some(label), _) => (b.recording, label),
        (None, Some(label)) => (a.recording, label),
        (None, None) => unreachable!("a change has at least one side"),
    }
}

fn table(a: &Side<'_>, b: &Side<'_>, query: &Compare) -> ResponseBody {
    let key = |change: &Change| {
        let (recording, label) = side(a, b, change);
        recording.entities.label_key(label)
    };
    let mut changes = calls::compare_table(a.of_calls(), b.of_calls(), query.by.into());
    if !query.find.is_empty() {
        let pattern = Pattern::text(&query.find);
        changes.retain(|change| pattern.matches(key(change)));
    }
    let delta = |change: &Change| change.after.value - change.before.value;
    changes.sort_rows_by(|x, y| {
        let number = |of: &dyn Fn(&Change) -> f64| of(x).total_cmp(&of(y));
        let order = match query.sort {
            ChangeSort::Delta => number(&|change| delta(change).abs()),
            ChangeSort::Before => number(&|change| change.before.value),
            ChangeSort::After => number(&|change| change.after.value),
            ChangeSort::Name => key(x).cmp(key(y)),
        };
        let order = if query.descending { order.reverse() } else { order };
        order.then_with(|| key(x).cmp(key(y)))
    });
    let count = changes.len();
    let from = query.offset.min(count);
    let some = &changes[from..][..(count - from).min(query.limit)];
    let some = affordable(some, |change| key(change).len());
    let row = |change: &Change| {
        let (recording, label) = side(a, b, change);
        ChangeRow { name: row(&recording.entities, label), status: change.status }
    };
    let column = |of: fn(&Change) -> f64| some.iter().map(of).collect::<Vec<f64>>();
    ResponseBody::new(CompareTableResponse {
        rows: some.iter().map(row).collect(),
        count,
        before: a.total().value,
        after: b.total().value,
    })
    .with("before", column(|change| change.before.value))
    .with("after", column(|change| change.after.value))
    .with("delta", some.iter().map(delta).collect::<Vec<f64>>())
    .with("before_stderr", column(|change| change.before.stderr))
    .with("after_stderr", column(|change| change.after.stderr))
    .with("self_before", column(|change| change.own_before.value))
    .with("self_after", column(|change| change.own_after.value))
    .with("blocks_before", column(|change| change.blocks_before))
    .with("blocks_after", column(|change| change.blocks_after))
}

fn flame(a: &Side<'_>, b: &Side<'_>, query: &Compare) -> ResponseBody {
    let focus: Vec<&str> = query.focus.iter().map(String::as_str).collect();
    let limits = limits(query.cutoff, query.limit.min(MAX_BOXES));
    let flame = calls::compare_flame(a.of_calls(), b.of_calls(), &focus, limits);
    let mut budget = Budget::new();
    // A name that has no room is no name.
    let name =
        |name: &String| if budget.take(name.len() + 3) { name.clone() } else { shown("…") };
    let status = |status: &Status| {
        STATUSES.iter().position(|known| known == status).unwrap_or(STATUSES.len()) as u8
    };
    ResponseBody::new(CompareFlameResponse {
        names: flame.names.iter().map(name).collect(),
        statuses: STATUSES.to_vec(),
        before: a.total().value,
        after: b.total().value,
    })
    .with("parent", flame.parent)
    .with("name", flame.name)
    .with("before", flame.before)
    .with("after", flame.after)
    .with("status", flame.status.iter().map(status).collect::<Vec<u8>>())
    .with("more", flame.more.iter().map(|&more| u8::from(more)).collect::<Vec<u8>>())
}
