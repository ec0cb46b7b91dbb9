//! The answer to [`HeapWho`]: which calls allocated what a variable owns, or the blocks of a type or kind.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_heap::{BlockIndex, Bytes};
use memtrail_order::SortRows as _;
use memtrail_profile::calls::{Entity, Label};
use serde::Serialize;

use super::join::{AliveEstimate, Live, Tally, live};
use super::loaded::LoadedSnapshot;
use super::meant::Meant;
use super::parts::{AlivePart, Part};
use super::rows::Rows;
use super::sampled_boxes::{PathTree, SampledBox, StepName};
use super::samples::{label, sites};
use crate::api_error::ApiError;
use crate::names::{row, shown};
use crate::query::HeapWho;
use crate::recording::Recording;

/// Callers of a place, at most.
const MAX_CALLERS: usize = 4;
/// Calls at most from the program's entry to an allocation; of deeper stacks the innermost.
const MAX_CALLS: usize = 200;

/// Which calls allocated some blocks.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WhoResponse {
    /// What is meant: `owner`, `type`, `kind` or `node`.
    pub of: &'static str,
    /// The names of these.
    pub names: Vec<String>,
    /// The size of the blocks, exactly.
    pub size: Bytes,
    /// Bytes outside the heap that go with them.
    pub external: Bytes,
    /// The same, as the samples have it: less, if there were blocks before the recording began to sample.
    pub alive: AliveEstimate,
    /// The places in the program that allocated them, those of most first.
    pub rows: Vec<AllocatorRow>,
    /// How many rows there are.
    pub count: usize,
    /// Rows that are left out.
    pub left_out: usize,
    /// The calls as nested boxes, from the program's entry to what allocated, if the query wants any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<SampledBox>,
}

/// A place in the program, and what of some blocks it allocated.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AllocatorRow {
    /// What filters call it.
    pub key: Option<String>,
    /// What it is shown as.
    pub name: String,
    /// The source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// What it allocated.
    pub alive: AliveEstimate,
    /// Of all of them.
    pub share: f64,
    /// The functions that called it, the nearest first, for one of the blocks.
    pub callers: Vec<String>,
    /// That block.
    pub example: BlockIndex,
    /// Its parts in the processes of a family, that of most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub processes: Vec<Part<AlivePart>>,
}

pub(super) fn who(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    query: &HeapWho,
) -> Result<WhoResponse, ApiError> {
    let profile = recording.profile();
    let meant = Meant::of_query(loaded, recording, query)?;
    let mut whole = Tally::default();
    let mut groups: HashMap<Option<Label>, (Tally, Live)> = HashMap::new();
    let mut tree = PathTree::new();
    let mut root_of = loaded.heap().graph.owners_one_by_one();
    let is_meant = |one: &Live| meant.blocks.has(loaded, &mut root_of, one.block);
    for one in live(loaded, recording).filter(is_meant) {
        whole.add(profile, one);
        let innermost = sites(recording, one.row).next();
        let label = innermost.and_then(|site| label(recording, query.by, site));
        let (tally, _) = groups.entry(label).or_insert_with(|| (Tally::default(), one));
        tally.add(profile, one);
        if query.boxes > 0 {
            tree.add(profile, one, calls(recording, one));
        }
    }
    let boxes = tree
        .finish(profile, query.boxes, &meant.names.join(", "), |step| name_of(recording, *step));
    let samples = whole.samples().max(1) as f64;
    let mut groups: Vec<(Option<Label>, (Tally, Live))> = groups.into_iter().collect();
    let key = |label: Option<Label>| label.map_or("", |label| recording.entities.label_key(label));
    groups.sort_rows_by_key(|(label, (tally, _))| (Reverse(tally.samples()), key(*label)));
    let count = groups.len();
    let mut bounds = Rows::new(query.limit);
    let room = bounds.affordable(&groups, |(label, _)| 2000 + key(*label).len() * 2).len();
    let rows = groups.into_iter().take(room).map(|(label, (tally, one))| {
        let name = label.map(|label| row(&recording.entities, label));
        let share = tally.samples() as f64 / samples;
        let callers = sites(recording, one.row).skip(1).filter_map(|site| {
            let entity = recording.entities.of_function(site.function)?;
            Some(shown(recording.entities.name(entity)))
        });
        AllocatorRow {
            key: name.as_ref().map(|name| name.key.to_owned()),
            file: name.as_ref().and_then(|name| name.file.clone()),
            line: name.as_ref().and_then(|name| name.line),
            name: name.map_or_else(|| "(unknown)".to_owned(), |name| name.label),
            alive: tally.finish(profile),
            share,
            callers: callers.take(MAX_CALLERS).collect(),
            example: one.block,
            processes: Vec::new(),
        }
    });
    let rows: Vec<AllocatorRow> = rows.collect();
    Ok(WhoResponse {
        of: meant.blocks.name(),
        left_out: count - rows.len(),
        rows,
        names: meant.names,
        size: meant.size,
        external: meant.external,
        alive: whole.finish(profile),
        count,
        boxes,
    })
}

/// A step from the program's entry to an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Call {
    /// A function, or last of all the call site in it that allocated.
    Of(Entity),
    /// Calls of which no function is known.
    Unknown,
    /// The outermost calls of a very deep stack.
    LeftOut,
}

/// The calls that allocated a block, outermost first.
fn calls(recording: &Recording, live: Live) -> Vec<Call> {
    let entities = &recording.entities;
    let mut calls = Vec::new();
    for site in sites(recording, live.row) {
        if calls.len() >= MAX_CALLS {
            calls.push(Call::LeftOut);
            break;
        }
        let function = entities.of_function(site.function);
        if calls.is_empty()
            && let Some(site) = entities.of_site(site)
        {
            calls.push(Call::Of(site));
        }
        let call = function.map_or(Call::Unknown, Call::Of);
        if call != Call::Unknown || calls.last() != Some(&Call::Unknown) {
            calls.push(call);
        }
    }
    calls.reverse();
    calls
}

fn name_of(recording: &Recording, call: Call) -> StepName {
    let plain = |name: &str| StepName { name: name.to_owned(), key: None, place: None };
    match call {
        Call::Unknown => plain("(unknown)"),
        Call::LeftOut => plain("…"),
        Call::Of(entity) => {
            let row = row(&recording.entities, Label::Entity(entity));
            let place = row.file.zip(row.line).map(|(file, line)| format!("{file}:{line}"));
            StepName { name: row.label, key: Some(row.key.to_owned()), place }
        }
    }
}
