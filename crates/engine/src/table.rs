//! The answers to [`Table`],
//! [`Branches`] and [`HotFragments`].

use std::collections::HashMap;

use memtrail_profile::calls::{
    self, Change, Column, Label, Line, Pattern, SIGNIFICANCE, Status, Suspect,
};
use serde::Serialize;

use crate::api_error::ApiError;
use crate::compare::{STATUSES, Side};
use crate::names::{Budget, RowName, affordable, row};
use crate::query::{Branches, HotFragments, Normalise, Table};
use crate::recording::Recording;
use crate::response_body::ResponseBody;
use crate::selection::FilterSelection;

/// Elements of a hot path that are shown; the innermost ones of longer paths.
const MAX_PATH: usize = 200;

/// Rows of a table. Columns: `total`, `self`, `live`, `blocks`, `lifetime`, `share`; where rows are compared with a
/// baseline, also `before`, its total, and `status`, the place of the change in `statuses`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct TableResponse<'a> {
    rows: Vec<RowName<'a>>,
    /// Rows there are, of which these may be only some.
    count: usize,
    /// What the numbers in the column of statuses mean; empty without a baseline.
    statuses: Vec<Status>,
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

/// A recording, and what of it others are compared with.
type Baseline<'a> = (&'a Recording, &'a [String]);

pub(crate) fn table(
    recording: &Recording,
    baseline: Option<Baseline<'_>>,
    query: &Table,
) -> Result<ResponseBody, ApiError> {
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
    let shown = &shown[..shown.len().min(query.limit)];
    let (body, shown) = rows(recording, &selection, shown, lines.len());
    let Some((before, conditions)) = baseline else { return Ok(body) };
    let before = Side::new(before, conditions, Normalise::None)?;
    let after = Side::new(recording, &query.filter, Normalise::None)?;
    let changes = calls::compare_table(before.of_calls(), after.of_calls(), query.by.into());
    let changes: HashMap<Label, Change> =
        changes.into_iter().filter_map(|change| Some((change.second?, change))).collect();
    let change = |line: &Line| changes.get(&line.label);
    let before = |line: &Line| change(line).map_or(0.0, |change| change.before.value);
    let status = |line: &Line| {
        let status = change(line).map_or(Status::Same, |change| change.status);
        STATUSES.iter().position(|known| *known == status).unwrap_or(0) as u8
    };
    let mut body = body
        .with("before", shown.iter().map(before).collect::<Vec<f64>>())
        .with("status", shown.iter().map(status).collect::<Vec<u8>>());
    body.set("statuses", STATUSES);
    Ok(body)
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
    Ok(rows(recording, &selection, &lines[..lines.len().min(query.limit)], lines.len()).0)
}

/// Some of `count` rows, and the lines that they are of.
fn rows<'l>(
    recording: &Recording,
    selection: &FilterSelection,
    lines: &'l [Line],
    count: usize,
) -> (ResponseBody, &'l [Line]) {
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
    let body = ResponseBody::new(TableResponse { rows, count, statuses: Vec::new() })
        .with("total", wide(|line| line.total.samples))
        .with("self", wide(|line| line.own.samples))
        .with("live", wide(|line| line.total.live))
        .with("blocks", narrow(&|line| line.total.blocks))
        .with("lifetime", narrow(&|line| line.total.mean_lifetime() / 1e6))
        .with("share", narrow(&|line| line.total.samples as f64 / all));
    (body, lines)
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
