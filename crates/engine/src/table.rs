//! The answers to [`Table`],
//! [`Branches`] and [`HotFragments`].

use memtrail_profile::calls::{self, Column, Label, Line, Pattern, SIGNIFICANCE, Suspect};
use serde::Serialize;

use crate::api_error::ApiError;
use crate::names::{Budget, RowName, row};
use crate::query::{Branches, HotFragments, Table};
use crate::recording::Recording;
use crate::response_body::ResponseBody;
use crate::selection::FilterSelection;

/// Rows at most.
const MAX_ROWS: usize = 10_000;
/// Rows that a page shows at a time, at most. Who asks for more wants a copy of the table.
const MAX_SHOWN: usize = 1000;
/// Elements of a hot path that are shown; the innermost ones of longer paths.
const MAX_PATH: usize = 200;

/// Rows of a table. Columns: `total`, `self`, `live`, `blocks`, `lifetime`, `share`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct TableResponse<'a> {
    rows: Vec<RowName<'a>>,
    /// Rows there are, of which these may be only some.
    count: usize,
}

/// The functions and paths that carry the weight.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct HotFragmentsResponse<'a> {
    functions: Vec<HotFragment<'a>>,
    /// Functions there are, of which these may be only some.
    function_count: usize,
    paths: Vec<HotFragment<'a>>,
    /// Paths there are, of which these may be only some.
    path_count: usize,
    /// The least share that is listed.
    significance: f64,
}

/// A function or a path that carries much.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct HotFragment<'a> {
    /// Keys, outermost first.
    path: Vec<&'a str>,
    /// Outer functions of a very long path that are left out.
    cut: usize,
    bytes: f64,
    /// Of all that the filter keeps, 0 to 1.
    share: f64,
    /// Number of the innermost.
    entity: Option<u32>,
}

pub(crate) fn table(recording: &Recording, query: &Table) -> Result<ResponseBody, ApiError> {
    let selection = recording.choose(&query.filter)?;
    let entities = &recording.entities;
    let mut lines = calls::table(selection.view(entities), query.by.into());
    if !query.find.is_empty() {
        let pattern = Pattern::text(&query.find);
        lines.retain(|line| pattern.matches(entities.label_key(line.label)));
    }
    calls::sort(&mut lines, entities, query.sort.into(), query.descending);
    let from = query.offset.min(lines.len());
    let shown = &lines[from..];
    Ok(rows(recording, &selection, &shown[..shown.len().min(query.limit)], lines.len()))
}

pub(crate) fn branches(recording: &Recording, query: &Branches) -> Result<ResponseBody, ApiError> {
    let selection = recording.choose(&query.filter)?;
    let entities = &recording.entities;
    let by = query.by.into();
    let path: Option<Vec<Label>> =
        query.path.iter().map(|key| entities.find_label(by, key)).collect();
    let mut lines = match path {
        Some(path) => calls::branches(selection.view(entities), by, &path, query.direction.into()),
        None => Vec::new(),
    };
    calls::sort(&mut lines, entities, Column::Total, true);
    Ok(rows(recording, &selection, &lines[..lines.len().min(query.limit)], lines.len()))
}

/// Some of `count` rows.
fn rows(
    recording: &Recording,
    selection: &FilterSelection,
    lines: &[Line],
    count: usize,
) -> ResponseBody {
    let entities = &recording.entities;
    let lines = affordable(lines, |line| entities.label_key(line.label).len());
    let bytes = recording.profile().estimator.bytes_per_sample();
    let all = selection.selected.sum.samples.max(1) as f64;
    let wide = |of: fn(&Line) -> u64| -> Vec<f64> {
        lines.iter().map(|line| of(line) as f64 * bytes).collect()
    };
    let narrow = |of: &dyn Fn(&Line) -> f64| -> Vec<f32> {
        lines.iter().map(|line| of(line) as f32).collect()
    };
    let rows = lines.iter().map(|line| row(entities, line.label)).collect();
    ResponseBody::new(TableResponse { rows, count })
        .with("total", wide(|line| line.total.samples))
        .with("self", wide(|line| line.own.samples))
        .with("live", wide(|line| line.total.live))
        .with("blocks", narrow(&|line| line.total.blocks))
        .with("lifetime", narrow(&|line| line.total.mean_lifetime() / 1e6))
        .with("share", narrow(&|line| line.total.samples as f64 / all))
}

/// As many rows as there may be, and as their keys, of these lengths, have room in an answer.
pub(crate) fn affordable<T>(rows: &[T], key: impl Fn(&T) -> usize) -> &[T] {
    let mut budget = if rows.len() > MAX_SHOWN { Budget::large() } else { Budget::new() };
    // The key, and what is shown of it, of its module and of its file.
    let fits = |row: &&T| budget.take(120 + key(row) + key(row).min(300) * 3);
    &rows[..rows.iter().take(MAX_ROWS).take_while(fits).count()]
}

pub(crate) fn hot_fragments(
    recording: &Recording,
    query: &HotFragments,
) -> Result<ResponseBody, ApiError> {
    let selection = recording.choose(&query.filter)?;
    let entities = &recording.entities;
    let hot_fragments = calls::hot_fragments(selection.view(entities), SIGNIFICANCE);
    let bytes = recording.profile().estimator.bytes_per_sample();
    let all = selection.selected.sum.samples.max(1) as f64;
    let list = |hot_fragments: &[Suspect], mut budget: Budget| -> Vec<HotFragment<'_>> {
        let tell = |suspect: &Suspect| {
            let cut = suspect.path.len().saturating_sub(MAX_PATH);
            let path = &suspect.path[cut..];
            let keys: Vec<&str> = path.iter().map(|&entity| entities.key(entity)).collect();
            let room = keys.iter().map(|key| key.len() + 3).sum::<usize>();
            let samples = suspect.samples as f64;
            budget.take(160 + room).then(|| HotFragment {
                path: keys,
                cut,
                bytes: samples * bytes,
                share: samples / all,
                entity: path.last().map(|entity| entity.0),
            })
        };
        hot_fragments.iter().map_while(tell).collect()
    };
    Ok(ResponseBody::new(HotFragmentsResponse {
        functions: list(&hot_fragments.functions, Budget::small()),
        function_count: hot_fragments.functions.len(),
        paths: list(&hot_fragments.paths, Budget::new()),
        path_count: hot_fragments.paths.len(),
        significance: hot_fragments.significance,
    }))
}
