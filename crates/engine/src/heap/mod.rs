//! The heap half: asks about snapshots.
//!
//! The host gives [files](file::SnapshotFile); [`snapshot_store`] knows which of a recording's snapshots are
//! open, and what is still to be analysed. Analysing is work that [`Engine::work`](crate::Engine)
//! does, never an ask: an ask of what is not analysed yet is answered with that it is being done.

mod block;
mod boxes;
mod diff;
pub(crate) mod file;
mod histogram;
mod loaded;
mod node;
mod over_time;
mod paths;
mod roots;
mod rows;
mod samples;
mod snapshot_store;
mod tree;

use std::sync::Arc;

use serde_json::json;

use crate::api_error::ApiError;
use crate::query::{Evolution, HeapDiff, HeapGrowth, Query};
use crate::recording::Recording;
use crate::response_body::ResponseBody;
use loaded::LoadedSnapshot;
pub use loaded::summary;
pub use snapshot_store::Done;
pub(crate) use snapshot_store::SnapshotStore;
use snapshot_store::{Known, Wanted};

/// What every answer is that has to wait for an analysis.
const ANALYSING: &str = "analysing";

/// Whether an answer says that the ask has to be repeated when a snapshot is analysed.
pub(crate) fn is_analysing(answer: &ResponseBody) -> bool {
    answer.header().contains_key(ANALYSING)
}

fn analysing(number: u64) -> ResponseBody {
    ResponseBody::new(json!({ ANALYSING: { "snapshot": number, "done": null } }))
}

/// Which snapshot an ask is about; `None` if it is no such ask.
fn about(ask: &Query) -> Option<(u32, Option<u64>)> {
    Some(match ask {
        Query::HeapRoots(ask) => (ask.rec, ask.snapshot),
        Query::HeapHistogram(ask) => (ask.rec, ask.snapshot),
        Query::HeapChildren(ask) => (ask.rec, ask.snapshot),
        Query::HeapTreemap(ask) => (ask.rec, ask.snapshot),
        Query::HeapFlame(ask) => (ask.rec, ask.snapshot),
        Query::HeapBlock(ask) => (ask.rec, ask.snapshot),
        Query::HeapPath(ask) => (ask.rec, ask.snapshot),
        Query::HeapStack(ask) => (ask.rec, ask.snapshot),
        Query::HeapShared(ask) => (ask.rec, ask.snapshot),
        Query::HeapStrings(ask) => (ask.rec, ask.snapshot),
        Query::HeapSamples(ask) => (ask.rec, ask.snapshot),
        _ => return None,
    })
}

/// What an engine lends to answer an ask about snapshots.
pub(crate) trait Recordings {
    /// The snapshots of a recording.
    fn snapshots(&self, rec: u32) -> Result<Arc<SnapshotStore>, ApiError>;

    /// Looks into a recording.
    fn look<R>(&self, rec: u32, look: impl FnOnce(&Recording) -> R) -> Result<R, ApiError>;
}

/// Answers an ask about snapshots; `None` if it is about something else.
pub(crate) fn answer(
    recordings: &impl Recordings,
    ask: &Query,
) -> Option<Result<ResponseBody, ApiError>> {
    Some(match ask {
        Query::Snapshots(ask) => snapshots(recordings, ask.rec),
        Query::Evolution(ask) => evolution(recordings, ask),
        Query::HeapGrowth(ask) => growth(recordings, ask),
        Query::HeapDiff(ask) => diff(recordings, ask),
        _ => {
            let (rec, number) = about(ask)?;
            of_snapshot(recordings, ask, rec, number)
        }
    })
}

fn of_snapshot(
    recordings: &impl Recordings,
    ask: &Query,
    rec: u32,
    number: Option<u64>,
) -> Result<ResponseBody, ApiError> {
    let loaded = match recordings.snapshots(rec)?.want(number)? {
        Wanted::Open(loaded) => loaded,
        Wanted::Analysing(number) => return Ok(analysing(number)),
    };
    let mut answer = of_opened(recordings, ask, rec, &loaded)?;
    // No figure of a damaged snapshot goes out without this.
    if let Some(damage) = loaded.heap().snapshot.damage {
        answer.set("partial", damage.to_string());
    }
    Ok(answer)
}

fn of_opened(
    recordings: &impl Recordings,
    ask: &Query,
    rec: u32,
    loaded: &LoadedSnapshot,
) -> Result<ResponseBody, ApiError> {
    match ask {
        Query::HeapRoots(ask) => roots::roots(loaded, ask),
        Query::HeapHistogram(ask) => histogram::histogram(loaded, ask),
        Query::HeapChildren(ask) => tree::children(loaded, ask),
        Query::HeapTreemap(ask) => boxes::treemap(loaded, ask),
        Query::HeapFlame(ask) => boxes::flame(loaded, ask),
        Query::HeapBlock(ask) => {
            let index = memtrail_heap::BlockIndex(ask.block);
            let sample = recordings.look(rec, |of| samples::sample(loaded, of, index))?;
            block::block(loaded, ask, &sample)
        }
        Query::HeapPath(ask) => paths::path(loaded, ask),
        Query::HeapStack(ask) => Ok(roots::stack(loaded, ask)),
        Query::HeapShared(ask) => roots::shared(loaded, ask),
        Query::HeapStrings(ask) => histogram::strings(loaded, ask),
        Query::HeapSamples(ask) => recordings.look(rec, |of| samples::samples(loaded, of, ask)),
        _ => Err(ApiError::bad("not an ask about a snapshot")),
    }
}

fn snapshots(recordings: &impl Recordings, rec: u32) -> Result<ResponseBody, ApiError> {
    let known = recordings.snapshots(rec)?.list();
    let (start, why_not) = recordings.look(rec, |of| {
        let start = of.profile().info.start.0;
        ((start > 0).then_some(start as f64 / 1e6), of.why_no_snapshot())
    })?;
    Ok(over_time::snapshots(&known, start, why_not))
}

fn evolution(recordings: &impl Recordings, ask: &Evolution) -> Result<ResponseBody, ApiError> {
    Ok(over_time::evolution(&all(recordings, ask.rec)?, ask))
}

fn growth(recordings: &impl Recordings, ask: &HeapGrowth) -> Result<ResponseBody, ApiError> {
    Ok(over_time::growth(&all(recordings, ask.rec)?, ask))
}

/// All snapshots, of which summaries are wanted.
fn all(recordings: &impl Recordings, rec: u32) -> Result<Vec<Known>, ApiError> {
    let snapshots = recordings.snapshots(rec)?;
    snapshots.want_all();
    Ok(snapshots.list())
}

fn diff(recordings: &impl Recordings, ask: &HeapDiff) -> Result<ResponseBody, ApiError> {
    let mut sides = Vec::new();
    for (rec, number, is_last) in
        [(ask.rec, ask.a, false), (ask.rec_b.unwrap_or(ask.rec), ask.b, true)]
    {
        let snapshots = recordings.snapshots(rec)?;
        let known = snapshots.list();
        let found = match number {
            Some(number) => known.iter().find(|known| known.facts.number == number),
            None if is_last => known.last(),
            None => known.first(),
        };
        let found = found.ok_or_else(|| {
            ApiError::unknown(format_args!("no such snapshot, there are {}", known.len()))
        })?;
        if let Some(summary) = &found.summary {
            sides.push(summary.clone());
            continue;
        }
        let number = found.facts.number;
        // An error of reading it is told here.
        if let Wanted::Analysing(_) = snapshots.want(Some(number))? {
            return Ok(analysing(number));
        }
    }
    match &sides[..] {
        [before, after] => {
            let mut answer = diff::diff(before, after, ask.limit);
            if let Some(damage) = before.damage.as_ref().or(after.damage.as_ref()) {
                answer.set("partial", damage);
            }
            Ok(answer)
        }
        _ => Err(ApiError::bad("there is nothing to compare")),
    }
}
