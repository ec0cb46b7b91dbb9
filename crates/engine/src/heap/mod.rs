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
use crate::query::{Evolution, HeapDiff, HeapGrowth, HeapQuery};
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

/// What an engine lends to answer an ask about snapshots.
pub(crate) trait Recordings {
    /// The snapshots of a recording.
    fn snapshots(&self, rec: u32) -> Result<Arc<SnapshotStore>, ApiError>;

    /// Looks into a recording.
    fn look<R>(&self, rec: u32, look: impl FnOnce(&Recording) -> R) -> Result<R, ApiError>;
}

/// Answers a query about snapshots.
pub(crate) fn answer(
    recordings: &impl Recordings,
    query: &HeapQuery,
) -> Result<ResponseBody, ApiError> {
    let of_snapshot =
        |rec, number, answer: &Answer<'_>| of_snapshot(recordings, rec, number, answer);
    match query {
        HeapQuery::Snapshots(ask) => snapshots(recordings, ask.rec),
        HeapQuery::Evolution(ask) => evolution(recordings, ask),
        HeapQuery::HeapGrowth(ask) => growth(recordings, ask),
        HeapQuery::HeapDiff(ask) => diff(recordings, ask),
        HeapQuery::HeapRoots(ask) => {
            of_snapshot(ask.rec, ask.snapshot, &|loaded| roots::roots(loaded, ask))
        }
        HeapQuery::HeapHistogram(ask) => {
            of_snapshot(ask.rec, ask.snapshot, &|loaded| histogram::histogram(loaded, ask))
        }
        HeapQuery::HeapChildren(ask) => {
            of_snapshot(ask.rec, ask.snapshot, &|loaded| tree::children(loaded, ask))
        }
        HeapQuery::HeapTreemap(ask) => {
            of_snapshot(ask.rec, ask.snapshot, &|loaded| boxes::treemap(loaded, ask))
        }
        HeapQuery::HeapFlame(ask) => {
            of_snapshot(ask.rec, ask.snapshot, &|loaded| boxes::flame(loaded, ask))
        }
        HeapQuery::HeapBlock(ask) => of_snapshot(ask.rec, ask.snapshot, &|loaded| {
            let index = memtrail_heap::BlockIndex(ask.block);
            let sample = recordings.look(ask.rec, |of| samples::sample(loaded, of, index))?;
            block::block(loaded, ask, &sample)
        }),
        HeapQuery::HeapPath(ask) => {
            of_snapshot(ask.rec, ask.snapshot, &|loaded| paths::path(loaded, ask))
        }
        HeapQuery::HeapStack(ask) => {
            of_snapshot(ask.rec, ask.snapshot, &|loaded| Ok(roots::stack(loaded, ask)))
        }
        HeapQuery::HeapShared(ask) => {
            of_snapshot(ask.rec, ask.snapshot, &|loaded| roots::shared(loaded, ask))
        }
        HeapQuery::HeapStrings(ask) => {
            of_snapshot(ask.rec, ask.snapshot, &|loaded| histogram::strings(loaded, ask))
        }
        HeapQuery::HeapSamples(ask) => of_snapshot(ask.rec, ask.snapshot, &|loaded| {
            recordings.look(ask.rec, |of| samples::samples(loaded, of, ask))
        }),
    }
}

/// How a query about one snapshot is answered when it is analysed.
type Answer<'a> = dyn Fn(&LoadedSnapshot) -> Result<ResponseBody, ApiError> + 'a;

fn of_snapshot(
    recordings: &impl Recordings,
    rec: u32,
    number: Option<u64>,
    answer: &Answer<'_>,
) -> Result<ResponseBody, ApiError> {
    let loaded = match recordings.snapshots(rec)?.want(number)? {
        Wanted::Open(loaded) => loaded,
        Wanted::Analysing(number) => return Ok(analysing(number)),
    };
    let mut answer = answer(&loaded)?;
    // No figure of a damaged snapshot goes out without this.
    if let Some(damage) = loaded.heap().snapshot.damage {
        answer.set("partial", damage.to_string());
    }
    Ok(answer)
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
