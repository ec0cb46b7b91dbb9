//! Leak suspects: which owners grow, what allocates what they own, and why it is not freed.
//!
//! | step | module |
//! |---|---|
//! | put sampled blocks to their owners, and other blocks from the same places beside them | [`owned`] |
//! | gather evidence: sizes by snapshot, dates of samples | [`gathered`], [`threads`], [`weak_tables`] |
//! | judge whether an owner grows | [`verdict`] |
//! | look into those that do | [`contents`], [`evidence`], [`details`] |
//! | describe the kind of leak | [`rules`] |
//! | say it | [`descriptions`] |
//!
//! Those of several processes are ranked together in [`family`].
//!
//! In recordings without snapshots of programs that free their memory themselves, call sites are judged instead: [`sites`].
//!
//! [`verdict`] alone judges. The responses have its result, all figures, and the descriptions made of them, so that all views
//! and gates say the same.

mod after_last;
mod callers;
mod cells;
mod clock;
mod closures;
mod conclusion;
mod contents;
mod descriptions;
mod details;
mod evidence;
pub(crate) mod family;
mod gathered;
mod growth;
mod known_leaks;
mod own_code;
mod owned;
mod response;
mod rules;
pub(crate) mod sites;
pub(crate) mod teardown;
mod thread_number;
mod threads;
mod unowned;
mod unrecorded;
pub mod verdict;
mod weak_tables;

use std::collections::HashMap;

use memtrail_heap::Bytes;
use memtrail_heap::graph::{RootNodeId, SUPER_ROOT};
use memtrail_heap::query;
use memtrail_order::SortRows as _;

pub use descriptions::{advice, of_process};
pub use family::{FamilyLeaksResponse, ProcessLeaks, ProcessSuspect, with_sites};
pub use growth::GrowthRate;
pub use known_leaks::KnownLeaks;
pub use response::{
    BlocksEstimate, CallerShare, ClearedOwner, Conclusion, DamagedSnapshot, LeakVerdict,
    LeaksResponse, NearestClosure, Place, Retainer, Suspect, UnreachableResponse, UnreachableSite,
};
pub use teardown::Teardown;
pub use unrecorded::Unrecorded;

use crate::api_error::ApiError;
use crate::heap::allocated::Allocated;
use crate::heap::loaded::{LoadedSnapshot, damaged};
use crate::heap::snapshot_store::Known;
use crate::names::shown;
use crate::query::HeapLeaks;
use crate::recording::Recording;
use clock::Clock;
use gathered::{Gathered, History};
use own_code::OwnCode;
use owned::Owner;
use verdict::{Class, Judged};

/// Suspects at most.
const MAX_SUSPECTS: usize = 50;
/// Owners that are cleared by name, at most.
const MAX_CLEARED: usize = 8;

/// Looks for leaks in what is alive in a snapshot; `known` are the recording's snapshots.
pub(crate) fn leaks(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    known: &[Known],
    query: &HeapLeaks,
) -> Result<LeaksResponse, ApiError> {
    let own = OwnCode::new(recording);
    let history = History::new(loaded, recording, known);
    let block_owners = loaded.heap().graph.owners_of_blocks(loaded.heap().threads);
    let clock = Clock::new(recording.profile(), history.end);
    let owners = owned::owners(loaded, &block_owners, recording, &own, &clock, history.end);
    let heap = loaded.heap();
    let external = heap.graph.held_external(SUPER_ROOT);
    let alive = heap.graph.held(SUPER_ROOT).bytes() + external;
    let weak = weak_tables::weak_tables(loaded, &block_owners, &owners)?;
    let Gathered { evidence, owners: places } =
        gathered::gather((&owners, &weak), &history, &clock, recording, alive);
    let counts = (owners.len(), owners.iter().map(|owner| owner.live.len()).sum());
    let judged = verdict::judge(&evidence);
    let unjudged = judged.iter().filter(|one| one.class == Class::Undecided && one.is_large);
    let unjudged = unjudged.filter_map(|one| one.series.sizes.last()).sum::<f64>();
    let (mut suspects, mut others) = merged(judged, owners, &places, recording);
    let limit = query.limit.min(MAX_SUSPECTS);
    let left_out = suspects.len().saturating_sub(limit);
    suspects.truncate(limit);
    others.truncate(MAX_CLEARED);
    add_held(loaded, suspects.iter_mut().chain(&mut others).map(|(_, owner)| owner))?;
    let mut of_root: HashMap<RootNodeId, usize> = HashMap::new();
    for (place, (_, owner)) in suspects.iter().enumerate() {
        of_root.extend(owner.rows.iter().map(|row| (row.owner, place)));
    }
    let allocated = Allocated::new(heap, &loaded.catalogue, recording);
    let contents = contents::contents(loaded, &allocated, &block_owners, &of_root, suspects.len())?;
    let details = suspects.iter().zip(&contents).map(|((judged, owner), contents)| {
        let clock = (&clock, evidence.work.as_slice());
        let growth = GrowthRate::of(judged, owner.live.len(), clock, history.end);
        let found = details::look_into(owner, contents, recording, &own, loaded);
        details::suspect(
            loaded,
            recording,
            &own,
            &found,
            judged.class,
            growth,
            (alive, history.end),
        )
    });
    let details: Vec<Suspect> = details.collect();
    let number = heap.snapshot.facts.number;
    let facts = known.iter().map(|known| &known.facts).find(|facts| facts.number == number);
    let gone = if history.snapshots() < unowned::SNAPSHOTS {
        // The runtimes of OCaml 5 have no counter of them in their heap.
        let measured = recording.description.process.collections.as_ref();
        let cycles = || measured.and_then(|measured| measured.whole.major_cycles);
        let collections = facts.and_then(|facts| facts.major).or_else(cycles);
        unowned::unowned(loaded, recording, &own, &clock, (&evidence, history.end), collections)
    } else {
        Vec::new()
    };
    let late = after_last::after_last(recording, &own, &clock, history.end, alive);
    let sum = |sites: &[ClearedOwner]| sites.iter().map(|site| site.bytes.0).sum::<u64>();
    let (gone_bytes, late_bytes) = (sum(&gone), sum(&late));
    let cleared = others.iter().map(|(judged, owner)| ClearedOwner {
        owner: shown(&descriptions::owner_name(owner)),
        class: judged.class,
        bytes: Bytes(owner.bytes()),
        share: 0.0,
        reason: descriptions::reason(owner, judged, recording),
    });
    // All are parts of one whole: the heap, and what nobody owned any more or nobody saw.
    let whole = alive + Bytes(gone_bytes) + Bytes(late_bytes);
    let cleared = late.into_iter().chain(gone).chain(cleared);
    let cleared = cleared.map(|owner| ClearedOwner { share: owner.bytes.share_of(whole), ..owner });
    let mut response = LeaksResponse {
        incomplete: recording.description.incomplete.clone(),
        unexamined: None,
        freed_at_end: teardown::freed_at_end(recording, facts, (&clock, &evidence.work), alive),
        unreachable: None,
        unrecorded: unrecorded::unrecorded(recording, &clock, loaded.off_heap()),
        suspects: details,
        cleared: cleared.take(MAX_CLEARED).collect(),
        teardown: None,
        conclusion: Conclusion::default(),
        left_out,
        summary: Vec::new(),
        owners: counts.0,
        alive,
        seconds: history.end,
        snapshots: history.snapshots(),
        snapshots_taken: Some(known.iter().filter(|known| known.facts.number <= number).count())
            .filter(|taken| *taken > history.snapshots()),
        sampled: counts.1,
        unjudged: Bytes(unjudged as u64 + gone_bytes + late_bytes),
        unowned: Bytes(gone_bytes),
        after_last: Bytes(late_bytes),
        damaged: damaged_snapshots(known, heap.snapshot.facts.number),
        evidence,
    };
    response.summary = descriptions::summary(&response);
    Ok(response)
}

/// The snapshots before one that are damaged.
fn damaged_snapshots(known: &[Known], number: u64) -> Vec<DamagedSnapshot> {
    let before = known.iter().filter(|known| known.facts.number < number);
    let damaged = before.filter_map(|known| {
        let reason = shown(known.damage()?);
        Some(DamagedSnapshot { number: known.facts.number, reason })
    });
    damaged.collect()
}

/// A judgement, and the owner that it is about.
type JudgedOwner<'s> = (Judged, Owner<'s>);

/// Suspects, and all others by size. Owners that hand memory to each other are one.
fn merged<'s>(
    judged: Vec<Judged>,
    owners: Vec<Owner<'s>>,
    places: &[Option<usize>],
    recording: &Recording,
) -> (Vec<JudgedOwner<'s>>, Vec<JudgedOwner<'s>>) {
    let blocks = &recording.profile().blocks;
    let mut owners: Vec<Option<Owner<'s>>> = owners.into_iter().map(Some).collect();
    let mut take = |member: usize| owners.get_mut(places.get(member).copied().flatten()?)?.take();
    let mut found: Vec<JudgedOwner<'s>> = Vec::new();
    for one in judged {
        // The first one gives the name.
        let name = one.series.name;
        let rest = one.series.members.iter().copied().filter(|member| *member != name);
        let mut members = std::iter::once(name).chain(rest).filter_map(&mut take);
        let Some(mut owner) = members.next() else { continue };
        members.for_each(|other| owner.merge(other));
        owner.sort_places(|one| blocks.samples(one.row));
        found.push((one, owner));
    }
    let (suspects, mut others): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(judged, _)| judged.class.is_suspect());
    others.sort_rows_by_key(|(_, owner)| std::cmp::Reverse(owner.bytes()));
    (suspects, others)
}

/// Adds to owners without a name what they hold.
fn add_held<'o, 's: 'o>(
    loaded: &LoadedSnapshot,
    owners: impl Iterator<Item = &'o mut Owner<'s>>,
) -> Result<(), ApiError> {
    let root = |owner: &'o mut Owner<'s>| Some((owner.rows.first()?.root, owner));
    let owners: Vec<(RootNodeId, &mut Owner<'_>)> = owners.filter_map(root).collect();
    let wanted: Vec<RootNodeId> = owners.iter().map(|(root, _)| *root).collect();
    let held = query::held_by_roots(loaded.heap(), &wanted).map_err(damaged)?;
    for (root, owner) in owners {
        owner.holds = held.get(&root).cloned();
    }
    Ok(())
}
