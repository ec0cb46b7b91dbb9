//! The answers to `Snapshots`, `Evolution` and `HeapGrowth`, which
//! summaries suffice for.

use std::sync::Arc;

use memtrail_heap::Bytes;
use memtrail_heap::query::{self, Growth, RootsBy, SeriesBy, Summary};
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use super::rows::Rows;
use super::snapshot_store::{Known, VariableNames};
use crate::names::shown;
use crate::query::{Evolution, HeapGrowth, Series};
use crate::recording::Recording;

/// Maximum number of series.
const MAX_SERIES: usize = 50;
/// Maximum number of rows of growth.
const MAX_GROWN: usize = 500;

/// What snapshots there are.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SnapshotsResponse {
    /// In the order they were taken.
    pub snapshots: Vec<SnapshotRow>,
    /// Whether another can be taken now.
    pub can_take: bool,
    /// The reason why none can be taken.
    pub why_not: Option<String>,
}

/// A snapshot as the page lists it.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, as the page reads them")]
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SnapshotRow {
    /// Its number within the recording.
    pub number: u64,
    /// Why it was taken.
    pub reason: String,
    /// The name that the program gave it.
    pub label: Option<String>,
    /// When it was taken, in seconds since the recording's start.
    pub at: Option<f64>,
    /// How long the program paused, in seconds.
    pub pause: f64,
    /// Bytes that the runtime has taken for the major heap; 0 if unknown.
    pub heap: u64,
    /// Bytes that are alive, if it is analysed.
    pub live: Option<Bytes>,
    /// What of that is in the major heap, whose size is `heap`.
    pub live_in_heap: Option<Bytes>,
    /// Blocks in the file.
    pub blocks: u64,
    /// Size of the file.
    pub file_bytes: u64,
    /// Major collections there had been.
    pub major: Option<u64>,
    /// Minor collections there had been.
    pub minor: Option<u64>,
    /// Whether it is analysed.
    pub analysed: bool,
    /// Whether strings' contents were written.
    pub contents: bool,
    /// Whether all of it is there, or its summary only.
    pub included: bool,
    /// What is wrong with it: figures are of a part of it.
    pub damage: Option<String>,
    /// Whether there are figures, or will be.
    pub readable: bool,
}

/// Which of some snapshots a response is about.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AnalysedSnapshots {
    /// How many are analysed.
    pub ready: usize,
    /// How many cannot be read.
    pub failed: usize,
    /// Of how many.
    pub of: usize,
    /// The numbers of those that are analysed in part, as they are damaged.
    pub partial: Vec<u64>,
    /// The numbers of those that are analysed.
    pub snapshots: Vec<u64>,
}

/// The moment of a snapshot in its recording, in seconds since the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TakenAt(pub(super) f64);

/// When a snapshot was taken; at the recording's end, if that is not known.
pub(super) fn taken_at(loaded: &LoadedSnapshot, recording: &Recording, known: &[Known]) -> TakenAt {
    let profile = recording.profile();
    let number = loaded.heap().snapshot.facts.number;
    let this = known.iter().map(|known| &known.facts).find(|facts| facts.number == number);
    let start = profile.info.start.0 as f64 / 1e6;
    let taken = this.filter(|facts| facts.taken_unix > 0.0 && start > 0.0);
    TakenAt(taken.map_or(profile.end.seconds(), |facts| (facts.taken_unix - start).max(0.0)))
}

/// What was alive over time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EvolutionResponse {
    /// Which snapshots the columns are about.
    #[serde(flatten)]
    pub about: AnalysedSnapshots,
    /// Live bytes in each, and in parts.
    #[serde(flatten)]
    pub evolution: query::Evolution,
}

/// What grew from each snapshot to the next.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GrowthResponse {
    /// Which snapshots the rows are about.
    #[serde(flatten)]
    pub about: AnalysedSnapshots,
    /// What grew most first.
    pub rows: Vec<Growth>,
}

/// Lists snapshots; `start` is when the recording began, in seconds since 1970, if that is known.
pub(super) fn snapshots(
    known: &[Known],
    start: Option<f64>,
    why_not: Option<String>,
) -> SnapshotsResponse {
    let first = known.first().map_or(0.0, |known| known.facts.taken_unix);
    let start = start.unwrap_or(first);
    let rows = known.iter().map(|known| {
        let facts = &known.facts;
        SnapshotRow {
            number: facts.number,
            reason: shown(&facts.reason),
            label: facts.label.as_deref().map(shown),
            at: (facts.taken_unix > 0.0).then_some((facts.taken_unix - start).max(0.0)),
            pause: facts.pause,
            heap: facts.heap,
            live: known.summary.as_ref().map(|summary| summary.bytes),
            live_in_heap: known.summary.as_ref().map(|summary| summary.in_heap),
            blocks: facts.blocks,
            file_bytes: facts.file_bytes,
            major: facts.major,
            minor: facts.minor,
            analysed: known.summary.is_some(),
            contents: facts.contents,
            included: known.included,
            damage: known.damage().cloned(),
            readable: known.failed.is_none(),
        }
    });
    SnapshotsResponse { snapshots: rows.collect(), can_take: why_not.is_none(), why_not }
}

/// Those of some snapshots that have summaries, and what there is of the others.
fn analysed<'k>(
    known: impl Iterator<Item = &'k Known> + Clone,
) -> (AnalysedSnapshots, Vec<Arc<Summary>>) {
    let ready: Vec<(u64, Arc<Summary>)> = known
        .clone()
        .filter_map(|known| Some((known.facts.number, known.summary.clone()?)))
        .collect();
    let failed = |known: &&Known| known.summary.is_none() && known.failed.is_some();
    let damaged = ready.iter().filter(|(_, summary)| summary.damage.is_some());
    let about = AnalysedSnapshots {
        ready: ready.len(),
        failed: known.clone().filter(failed).count(),
        of: known.count(),
        partial: damaged.map(|(number, _)| *number).collect(),
        snapshots: ready.iter().map(|(number, _)| *number).collect(),
    };
    (about, ready.into_iter().map(|(_, summary)| summary).collect())
}

pub(super) fn evolution(
    known: &[Known],
    query: &Evolution,
    names: &VariableNames,
) -> EvolutionResponse {
    let (about, summaries) = analysed(known.iter());
    let most = query.limit.clamp(1, MAX_SERIES);
    let mut evolution = query::evolution(&summaries, query.by.into(), most);
    if query.by == Series::Owner {
        let series = evolution.series.iter();
        let held = names.held(series.map(|series| (series.kind.as_ref(), &series.name)));
        for series in &mut evolution.series {
            series.holds = held.get(&series.name).map(|holds| shown(holds));
            names.rename(series.kind.as_ref(), &mut series.name);
        }
    }
    for series in &mut evolution.series {
        series.name = shown(&series.name);
    }
    EvolutionResponse { about, evolution }
}

pub(super) fn growth(known: &[Known], query: &HeapGrowth, names: &VariableNames) -> GrowthResponse {
    let among = |known: &&Known| {
        let number = known.facts.number;
        query.from.is_none_or(|from| number >= from) && query.to.is_none_or(|to| number <= to)
    };
    let (about, summaries) = analysed(known.iter().filter(among));
    let mut rows = query::growth(&summaries, RootsBy::Owned);
    rows.retain(|row| !row.is_joint);
    let mut bounds = Rows::new(MAX_GROWN);
    let count = bounds.affordable(&rows, |row| 100 + row.name.len() + row.bytes.len() * 10).len();
    rows.truncate(count);
    let held = names.held(rows.iter().map(|row| (row.kind.as_ref(), &row.name)));
    for row in &mut rows {
        row.holds = held.get(&row.name).map(|holds| shown(holds));
        names.rename(row.kind.as_ref(), &mut row.name);
        row.name = shown(&row.name);
    }
    GrowthResponse { about, rows }
}

impl From<Series> for SeriesBy {
    fn from(series: Series) -> Self {
        match series {
            Series::Kind => Self::Kind,
            Series::Root => Self::Root,
            Series::Owner => Self::Owner,
        }
    }
}
