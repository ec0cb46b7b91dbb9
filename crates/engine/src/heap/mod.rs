//! The heap half: asks about snapshots.
//!
//! The host gives [files](file::SnapshotFile); [`shelf`] knows which of a recording's snapshots are
//! open, and what is still to be analysed. Analysing is work that [`Engine::work`](crate::Engine)
//! does, never an ask: an ask of what is not analysed yet is answered with that it is being done.

mod block;
mod boxes;
mod diff;
pub(crate) mod file;
mod histogram;
mod node;
mod opened;
mod over_time;
mod paths;
mod roots;
mod rows;
mod samples;
mod shelf;
mod tree;

use std::sync::Arc;

use serde_json::json;

use crate::answer::Answer;
use crate::ask::{Ask, Evolution, HeapDiff, HeapGrowth};
use crate::recording::Recording;
use crate::refusal::Refusal;
use opened::Opened;
pub use opened::summary;
pub use shelf::Done;
pub(crate) use shelf::Shelf;
use shelf::{Known, Wanted};

/// What every answer is that has to wait for an analysis.
const ANALYSING: &str = "analysing";

/// Whether an answer says that the ask has to be repeated when a snapshot is analysed.
pub(crate) fn is_analysing(answer: &Answer) -> bool {
    answer.header().contains_key(ANALYSING)
}

fn analysing(number: u64) -> Answer {
    Answer::new(json!({ ANALYSING: { "snapshot": number, "done": null } }))
}

/// Which snapshot an ask is about; `None` if it is no such ask.
fn about(ask: &Ask) -> Option<(u32, Option<u64>)> {
    Some(match ask {
        Ask::HeapRoots(ask) => (ask.rec, ask.snapshot),
        Ask::HeapHistogram(ask) => (ask.rec, ask.snapshot),
        Ask::HeapChildren(ask) => (ask.rec, ask.snapshot),
        Ask::HeapTreemap(ask) => (ask.rec, ask.snapshot),
        Ask::HeapFlame(ask) => (ask.rec, ask.snapshot),
        Ask::HeapBlock(ask) => (ask.rec, ask.snapshot),
        Ask::HeapPath(ask) => (ask.rec, ask.snapshot),
        Ask::HeapStack(ask) => (ask.rec, ask.snapshot),
        Ask::HeapShared(ask) => (ask.rec, ask.snapshot),
        Ask::HeapStrings(ask) => (ask.rec, ask.snapshot),
        Ask::HeapSamples(ask) => (ask.rec, ask.snapshot),
        _ => return None,
    })
}

/// What an engine lends to answer an ask about snapshots.
pub(crate) trait Recordings {
    /// The snapshots of a recording.
    fn shelf(&self, rec: u32) -> Result<Arc<Shelf>, Refusal>;

    /// Looks into a recording.
    fn look<R>(&self, rec: u32, look: impl FnOnce(&Recording) -> R) -> Result<R, Refusal>;
}

/// Answers an ask about snapshots; `None` if it is about something else.
pub(crate) fn answer(recordings: &impl Recordings, ask: &Ask) -> Option<Result<Answer, Refusal>> {
    Some(match ask {
        Ask::Snapshots(ask) => snapshots(recordings, ask.rec),
        Ask::Evolution(ask) => evolution(recordings, ask),
        Ask::HeapGrowth(ask) => growth(recordings, ask),
        Ask::HeapDiff(ask) => diff(recordings, ask),
        _ => {
            let (rec, number) = about(ask)?;
            of_snapshot(recordings, ask, rec, number)
        }
    })
}

fn of_snapshot(
    recordings: &impl Recordings,
    ask: &Ask,
    rec: u32,
    number: Option<u64>,
) -> Result<Answer, Refusal> {
    let opened = match recordings.shelf(rec)?.want(number)? {
        Wanted::Open(opened) => opened,
        Wanted::Analysing(number) => return Ok(analysing(number)),
    };
    let mut answer = of_opened(recordings, ask, rec, &opened)?;
    // No figure of a damaged snapshot goes out without this.
    if let Some(damage) = opened.heap().snapshot.damage {
        answer.set("partial", damage.to_string());
    }
    Ok(answer)
}

fn of_opened(
    recordings: &impl Recordings,
    ask: &Ask,
    rec: u32,
    opened: &Opened,
) -> Result<Answer, Refusal> {
    match ask {
        Ask::HeapRoots(ask) => roots::roots(opened, ask),
        Ask::HeapHistogram(ask) => histogram::histogram(opened, ask),
        Ask::HeapChildren(ask) => tree::children(opened, ask),
        Ask::HeapTreemap(ask) => boxes::treemap(opened, ask),
        Ask::HeapFlame(ask) => boxes::flame(opened, ask),
        Ask::HeapBlock(ask) => {
            let index = memtrail_heap::BlockIndex(ask.block);
            let sample = recordings.look(rec, |of| samples::sample(opened, of, index))?;
            block::block(opened, ask, &sample)
        }
        Ask::HeapPath(ask) => paths::path(opened, ask),
        Ask::HeapStack(ask) => Ok(roots::stack(opened, ask)),
        Ask::HeapShared(ask) => roots::shared(opened, ask),
        Ask::HeapStrings(ask) => histogram::strings(opened, ask),
        Ask::HeapSamples(ask) => recordings.look(rec, |of| samples::samples(opened, of, ask)),
        _ => Err(Refusal::bad("not an ask about a snapshot")),
    }
}

fn snapshots(recordings: &impl Recordings, rec: u32) -> Result<Answer, Refusal> {
    let known = recordings.shelf(rec)?.list();
    let (start, why_not) = recordings.look(rec, |of| {
        let start = of.profile().info.start.0;
        ((start > 0).then_some(start as f64 / 1e6), of.why_no_snapshot())
    })?;
    Ok(over_time::snapshots(&known, start, why_not))
}

fn evolution(recordings: &impl Recordings, ask: &Evolution) -> Result<Answer, Refusal> {
    Ok(over_time::evolution(&all(recordings, ask.rec)?, ask))
}

fn growth(recordings: &impl Recordings, ask: &HeapGrowth) -> Result<Answer, Refusal> {
    Ok(over_time::growth(&all(recordings, ask.rec)?, ask))
}

/// All snapshots, of which summaries are wanted.
fn all(recordings: &impl Recordings, rec: u32) -> Result<Vec<Known>, Refusal> {
    let shelf = recordings.shelf(rec)?;
    shelf.want_all();
    Ok(shelf.list())
}

fn diff(recordings: &impl Recordings, ask: &HeapDiff) -> Result<Answer, Refusal> {
    let mut sides = Vec::new();
    for (rec, number, is_last) in
        [(ask.rec, ask.a, false), (ask.rec_b.unwrap_or(ask.rec), ask.b, true)]
    {
        let shelf = recordings.shelf(rec)?;
        let known = shelf.list();
        let found = match number {
            Some(number) => known.iter().find(|known| known.facts.number == number),
            None if is_last => known.last(),
            None => known.first(),
        };
        let found = found.ok_or_else(|| {
            Refusal::unknown(format_args!("no such snapshot, there are {}", known.len()))
        })?;
        if let Some(summary) = &found.summary {
            sides.push(summary.clone());
            continue;
        }
        let number = found.facts.number;
        // An error of reading it is told here.
        if let Wanted::Analysing(_) = shelf.want(Some(number))? {
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
        _ => Err(Refusal::bad("there is nothing to compare")),
    }
}
