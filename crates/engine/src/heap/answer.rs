//! Answers queries about snapshots.

use std::sync::Arc;

use memtrail_heap::BlockIndex;
use memtrail_heap::query::{Difference, Summary};

use super::allocated::Allocated;
use super::block::{self, BlockResponse};
use super::blocks::{self, BlocksResponse};
use super::closures;
use super::diff;
use super::loaded::LoadedSnapshot;
use super::outcome::{OfSnapshot, Outcome};
use super::over_time::{self, SnapshotsResponse};
use super::owner_changes::{self, OwnerChanges};
use super::samples::{self, SamplesResponse};
use super::snapshot_store::{Known, SnapshotStore, Wanted};
use super::survivors::{self, Between, SurvivorsResponse};
use super::tree::{self, ChildrenResponse};
use super::who::{self, WhoResponse};
use super::why::{self, WhyResponse};
use super::{boxes, containers, histogram, joint, owners, paths, roots, shared, stack, strings};
use crate::api_error::ApiError;
use crate::leaks::{self, LeaksResponse};
use crate::query::{
    HeapBlock, HeapBlocks, HeapChildren, HeapDiff, HeapLeaks, HeapQuery, HeapSamples,
    HeapSurvivors, HeapWho, HeapWhy,
};
use crate::recording::Recording;
use crate::references::{self, ReferrersResponse};
use crate::response_body::ResponseBody;

/// What an engine lends to answer a query about snapshots.
pub(crate) trait Recordings {
    /// The snapshots of a recording.
    fn snapshots(&self, rec: u32) -> Result<Arc<SnapshotStore>, ApiError>;

    /// Looks into a recording.
    fn look<R>(&self, rec: u32, look: impl FnOnce(&Recording) -> R) -> Result<R, ApiError>;
}

/// Answers a query about snapshots.
pub(crate) fn answer(of: &impl Recordings, query: &HeapQuery) -> Result<ResponseBody, ApiError> {
    Ok(match query {
        HeapQuery::Snapshots(query) => Outcome::ready(snapshots(of, query.rec)?).into(),
        HeapQuery::Evolution(query) => {
            let names = of.snapshots(query.rec)?.names();
            Outcome::ready(over_time::evolution(&all(of, query.rec)?, query, &names)).into()
        }
        HeapQuery::HeapGrowth(query) => {
            let names = of.snapshots(query.rec)?.names();
            Outcome::ready(over_time::growth(&all(of, query.rec)?, query, &names)).into()
        }
        HeapQuery::HeapDiff(query) => compare(of, query)?.into(),
        HeapQuery::HeapRoots(query) => {
            of_snapshot(of, query.rec, query.snapshot, |loaded| roots::roots(loaded, query))?.into()
        }
        HeapQuery::HeapOwners(query) => {
            let response = |loaded: &LoadedSnapshot| owners::owners(loaded, query);
            of_snapshot(of, query.rec, query.snapshot, response)?.into()
        }
        HeapQuery::HeapJoint(query) => {
            let response = |loaded: &LoadedSnapshot| {
                with_samples(of, query.rec, loaded, |by| joint::joint(loaded, by, query))
            };
            of_snapshot(of, query.rec, query.snapshot, response)?.into()
        }
        HeapQuery::HeapContainers(query) => {
            let response = |loaded: &LoadedSnapshot| containers::containers(loaded, query);
            of_snapshot(of, query.rec, query.snapshot, response)?.into()
        }
        HeapQuery::HeapHistogram(query) => {
            let response = |loaded: &LoadedSnapshot| {
                of.look(query.rec, |of| histogram::histogram(loaded, of, query))?
            };
            of_snapshot(of, query.rec, query.snapshot, response)?.into()
        }
        HeapQuery::HeapChildren(query) => children(of, query)?.into(),
        HeapQuery::HeapTreemap(query) => {
            of_snapshot(of, query.rec, query.snapshot, |loaded| boxes::treemap(loaded, query))?
                .into()
        }
        HeapQuery::HeapFlame(query) => {
            of_snapshot(of, query.rec, query.snapshot, |loaded| boxes::flame(loaded, query))?.into()
        }
        HeapQuery::HeapBlock(query) => block(of, query)?.into(),
        HeapQuery::HeapPath(query) => {
            let response = |loaded: &LoadedSnapshot| {
                with_samples(of, query.rec, loaded, |by| paths::path(loaded, by, query))
            };
            of_snapshot(of, query.rec, query.snapshot, response)?.into()
        }
        HeapQuery::HeapStack(query) => {
            of_snapshot(of, query.rec, query.snapshot, |loaded| Ok(stack::stack(loaded)))?.into()
        }
        HeapQuery::HeapShared(query) => {
            of_snapshot(of, query.rec, query.snapshot, |loaded| shared::shared(loaded, query))?
                .into()
        }
        HeapQuery::HeapStrings(query) => {
            of_snapshot(of, query.rec, query.snapshot, |loaded| strings::strings(loaded, query))?
                .into()
        }
        HeapQuery::HeapSamples(query) => samples(of, query)?.into(),
        HeapQuery::HeapWhy(query) => why(of, query)?.into(),
        HeapQuery::HeapWho(query) => who(of, query)?.into(),
        HeapQuery::HeapSurvivors(query) => survivors(of, query)?.into(),
        HeapQuery::HeapBlocks(query) => blocks(of, query)?.into(),
        HeapQuery::HeapLeaks(query) => leaks(of, query)?.into(),
    })
}

/// What a node of the dominator tree alone retains.
pub(crate) fn children(
    of: &impl Recordings,
    query: &HeapChildren,
) -> Result<Outcome<ChildrenResponse>, ApiError> {
    of_snapshot(of, query.rec, query.snapshot, |loaded| tree::children(loaded, query))
}

/// All that is known of a block.
pub(crate) fn block(
    of: &impl Recordings,
    query: &HeapBlock,
) -> Result<Outcome<BlockResponse>, ApiError> {
    of_snapshot(of, query.rec, query.snapshot, |loaded| {
        let sample =
            of.look(query.rec, |of| samples::sample(loaded, of, BlockIndex(query.block)))?;
        let response = with_samples(of, query.rec, loaded, |by| block::block(loaded, by, query))?;
        Ok(BlockResponse { sample, ..response })
    })
}

/// What `respond` makes of what the sampled blocks tell of others.
fn with_samples<T>(
    of: &impl Recordings,
    rec: u32,
    loaded: &LoadedSnapshot,
    respond: impl FnOnce(&Allocated<'_>) -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    of.look(rec, |of| respond(&Allocated::new(loaded.heap(), &loaded.catalogue, of)))?
}

/// The places in the program whose blocks retain most.
pub(crate) fn samples(
    of: &impl Recordings,
    query: &HeapSamples,
) -> Result<Outcome<SamplesResponse>, ApiError> {
    of_snapshot(of, query.rec, query.snapshot, |loaded| {
        of.look(query.rec, |of| samples::samples(loaded, of, query))
    })
}

/// What retains what a function allocated.
pub(crate) fn why(of: &impl Recordings, query: &HeapWhy) -> Result<Outcome<WhyResponse>, ApiError> {
    of_snapshot(of, query.rec, query.snapshot, |loaded| {
        of.look(query.rec, |of| {
            if let Some(found) = why::why(loaded, of, query)? {
                return Ok(found);
            }
            // Those of closures have no boxes.
            let has_closures = query.path.is_empty() && query.boxes == 0;
            let closures = if has_closures { closures::why(loaded, of, query)? } else { None };
            closures.ok_or_else(|| why::nothing(query, of))
        })?
    })
}

/// Which calls allocated what a root owns, or the blocks of a type or kind.
pub(crate) fn who(of: &impl Recordings, query: &HeapWho) -> Result<Outcome<WhoResponse>, ApiError> {
    of_snapshot(of, query.rec, query.snapshot, |loaded| {
        of.look(query.rec, |of| who::who(loaded, of, query))?
    })
}

/// What was alive in one snapshot and is in a later one.
pub(crate) fn survivors(
    of: &impl Recordings,
    query: &HeapSurvivors,
) -> Result<Outcome<SurvivorsResponse>, ApiError> {
    let store = of.snapshots(query.rec)?;
    let known = store.list();
    let present: Vec<u64> = known.iter().map(|known| known.facts.number).collect();
    let [from, to] = survivors::numbers(&present, query)?;
    let (before, after) = match (store.want(Some(from))?, store.want(Some(to))?) {
        (Wanted::Open(before), Wanted::Open(after)) => (before, after),
        (Wanted::Analysing(number), _) | (_, Wanted::Analysing(number)) => {
            return Ok(Outcome::Analysing(number));
        }
    };
    let damage =
        |loaded: &LoadedSnapshot| loaded.heap().snapshot.damage.as_ref().map(ToString::to_string);
    let partial = damage(&before).or_else(|| damage(&after));
    let response = of.look(query.rec, |of| {
        let loaded = [&*before, &*after];
        let at = loaded.map(|loaded| over_time::taken_at(loaded, of, &known).0);
        survivors::survivors(&Between { loaded, at }, of, query)
    })?;
    Ok(Outcome::Ready(OfSnapshot { response, partial }))
}

/// Blocks that a filter wants.
pub(crate) fn blocks(
    of: &impl Recordings,
    query: &HeapBlocks,
) -> Result<Outcome<BlocksResponse>, ApiError> {
    let known = of.snapshots(query.rec)?.list();
    of_snapshot(of, query.rec, query.snapshot, |loaded| {
        of.look(query.rec, |of| {
            let taken = over_time::taken_at(loaded, of, &known);
            blocks::blocks(loaded, of, query, taken)
        })?
    })
}

/// Which owners grow, and why.
pub(crate) fn leaks(
    of: &impl Recordings,
    query: &HeapLeaks,
) -> Result<Outcome<LeaksResponse>, ApiError> {
    let known = all(of, query.rec)?;
    let last = query.snapshot.or_else(|| known.last().map(|known| known.facts.number));
    let teardown = of.look(query.rec, |of| {
        last.and_then(|last| leaks::teardown::of_snapshots(&known, last, of))
    })?;
    let number = teardown.and_then(|teardown| teardown.snapshot).or(query.snapshot);
    of_snapshot(of, query.rec, number, |loaded| {
        of.look(query.rec, |of| {
            let mut response = leaks::leaks(loaded, of, &known, query)?;
            response.summary.extend(teardown.map(|teardown| teardown.description()));
            response.teardown = teardown;
            let number = loaded.heap().snapshot.facts.number;
            response.unreachable = of.references_of(number).map(|found| {
                references::unreachable(of, &references::with_garbage(found, loaded), query.limit)
            });
            response.conclude(query.limit);
            Ok(response)
        })?
    })
}

/// What refers to the memory from `malloc` that a function allocated.
pub(crate) fn referrers(
    of: &impl Recordings,
    (rec, snapshot): (u32, u64),
    name: &str,
    limit: usize,
) -> Result<Outcome<ReferrersResponse>, ApiError> {
    of_snapshot(of, rec, Some(snapshot), |loaded| {
        of.look(rec, |of| {
            let none = || ApiError::bad("the snapshot has no references to memory from malloc");
            let found = of.references_of(snapshot).ok_or_else(none)?;
            let found = references::with_garbage(found, loaded);
            references::referrers(of, &found, name, limit, Some(loaded))
        })?
    })
}

/// Answers a query about one snapshot, as soon as that is analysed.
fn of_snapshot<T>(
    of: &impl Recordings,
    rec: u32,
    number: Option<u64>,
    respond: impl FnOnce(&LoadedSnapshot) -> Result<T, ApiError>,
) -> Result<Outcome<T>, ApiError> {
    let loaded = match of.snapshots(rec)?.want(number)? {
        Wanted::Open(loaded) => loaded,
        Wanted::Analysing(number) => return Ok(Outcome::Analysing(number)),
    };
    let response = respond(&loaded)?;
    // No figure of a damaged snapshot goes out without this.
    let partial = loaded.heap().snapshot.damage.map(|damage| damage.to_string());
    Ok(Outcome::Ready(OfSnapshot { response, partial }))
}

/// What owners have in the last snapshot, and by how much that changed.
pub(crate) fn owner_changes(
    of: &impl Recordings,
    rec: u32,
) -> Result<Outcome<OwnerChanges>, ApiError> {
    let store = of.snapshots(rec)?;
    store.want_all();
    of_snapshot(of, rec, None, |loaded| {
        of.look(rec, |of| owner_changes::owner_changes(loaded, of, &store.list()))?
    })
}

/// Lists the snapshots of a recording.
pub(crate) fn snapshots(of: &impl Recordings, rec: u32) -> Result<SnapshotsResponse, ApiError> {
    let known = of.snapshots(rec)?.list();
    let (start, why_not) = of.look(rec, |of| {
        let start = of.profile().info.start.0;
        ((start > 0).then_some(start as f64 / 1e6), of.why_no_snapshot())
    })?;
    Ok(over_time::snapshots(&known, start, why_not))
}

/// All snapshots, of which summaries are wanted.
fn all(of: &impl Recordings, rec: u32) -> Result<Vec<Known>, ApiError> {
    let snapshots = of.snapshots(rec)?;
    snapshots.want_all();
    Ok(snapshots.list())
}

/// What changed between two snapshots.
fn compare(of: &impl Recordings, query: &HeapDiff) -> Result<Outcome<Difference>, ApiError> {
    let sides = [(query.rec, query.a, false), (query.rec_b.unwrap_or(query.rec), query.b, true)];
    let mut summaries: Vec<Arc<Summary>> = Vec::new();
    for (rec, number, is_last) in sides {
        let snapshots = of.snapshots(rec)?;
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
            summaries.push(summary.clone());
            continue;
        }
        let number = found.facts.number;
        // If it cannot be read, the error is returned here.
        if let Wanted::Analysing(_) = snapshots.want(Some(number))? {
            return Ok(Outcome::Analysing(number));
        }
    }
    let [before, after] = &summaries[..] else {
        return Err(ApiError::bad("there is nothing to compare"));
    };
    let partial = before.damage.as_ref().or(after.damage.as_ref()).cloned();
    let [stored, shown] =
        [query.rec, query.rec_b.unwrap_or(query.rec)].map(|rec| of.snapshots(rec));
    // Those of what is looked at, with which the page compares.
    let (stored, shown) = (stored?, shown?);
    let earlier_names = stored.names().or(|| shown.names());
    let names = shown.names().or(|| stored.names());
    let response = diff::diff([before, after], query.limit, [&earlier_names, &names]);
    Ok(Outcome::Ready(OfSnapshot { response, partial }))
}
