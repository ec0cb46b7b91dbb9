//! Blocks that nothing refers to in the last of few snapshots, although they outlived collections: a local variable that has returned
//! had them. One snapshot at the exit shows nothing of such a leak, so it cannot clear it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use memtrail_heap::Bytes;
use memtrail_order::SortRows as _;
use memtrail_profile::blocks::Row;
use memtrail_trace::{Site, Source};

use super::clock::Clock;
use super::gathered;
use super::own_code::{NearestSites, OwnCode};
use super::owned::Lifetime;
use super::response::ClearedOwner;
use super::verdict::{BLOCKS, Class, Evidence, LEAST, OwnerEvidence, judge};
use crate::heap::join::sampled;
use crate::heap::loaded::LoadedSnapshot;
use crate::recording::Recording;

/// With so many snapshots, those while the program worked show what had the blocks.
pub(super) const SNAPSHOTS: usize = 3;
/// Collections that free what nothing refers to. Without them blocks that stay tell nothing.
const COLLECTIONS: u64 = 4;
/// Major collections after which a block to which nothing refers is freed: it may have become garbage after the first one began.
const FREE_WITHIN: u64 = 3;

/// Call sites whose blocks stayed evenly, and to which nothing refers: they cannot be judged.
pub(super) fn unowned(
    loaded: &LoadedSnapshot,
    recording: &Recording,
    own: &OwnCode<'_>,
    clock: &Clock,
    (evidence, end): (&Evidence, f64),
    collections: Option<u64>,
) -> Vec<ClearedOwner> {
    if collections.is_none_or(|collections| collections < COLLECTIONS) {
        return Vec::new();
    }
    let blocks = &recording.profile().blocks;
    let garbage: HashSet<Row> = sampled(loaded, recording)
        .filter(|block| !block.is_alive)
        .filter_map(|block| block.row)
        .collect();
    let mut nearest = NearestSites::new(own);
    let mut of_site: HashMap<Site, Vec<Lifetime>> = HashMap::new();
    for row in blocks.rows().filter(|row| blocks.source(*row) != Source::External) {
        let allocated = blocks.allocated(row).seconds();
        let Some(site) = nearest.of(row).filter(|_| allocated <= end) else { continue };
        let lifetime = Lifetime::of(recording, clock, row, end);
        let is_owned = lifetime.is_owned && garbage.contains(&row);
        of_site.entry(site).or_default().push(Lifetime { is_owned, ..lifetime });
    }
    let alive = evidence.alive.last().copied().unwrap_or(0);
    let settled = collected_by(recording).map(|at| clock.at(at)).filter(|settled| *settled > 0.0);
    let mut found = Vec::new();
    for (site, mut lifetimes) in of_site {
        let stay = lifetimes.iter().filter(|block| block.is_owned);
        let bytes = stay.map(|block| block.bytes).sum::<f64>() as u64;
        // Younger blocks may be garbage that waits for a collection, and those that died as young were.
        if let Some(settled) = settled {
            let young = clock.at(end) - settled;
            lifetimes.retain(|block| {
                block.allocated <= settled
                    && block.freed.is_none_or(|freed| freed - block.allocated > young)
            });
            for block in &mut lifetimes {
                block.allocated /= settled;
                block.freed = block.freed.map(|freed| (freed / settled).min(1.0));
            }
        }
        let stayed = || lifetimes.iter().filter(|block| block.is_owned);
        let settled_bytes = stayed().map(|block| block.bytes).sum::<f64>() as u64;
        // Most of what is not reachable was freed, where it is garbage that waits for a collection.
        let freed = lifetimes.iter().filter(|block| block.freed.is_some()).count();
        let is_garbage = settled.is_none() && 2 * freed > stayed().count();
        if (settled_bytes as f64) < LEAST || is_garbage {
            continue;
        }
        let owner = OwnerEvidence {
            kind: "site".to_owned(),
            sizes: vec![settled_bytes],
            freed: gathered::freed(&lifetimes),
            ..OwnerEvidence::default()
        };
        let owner =
            gathered::with_births(owner, stayed().map(|block| (block.allocated, block.bytes)));
        let samples = owner.live;
        let one = Evidence {
            work: vec![1.0],
            alive: vec![alive + settled_bytes],
            owners: vec![owner],
            ..evidence.clone()
        };
        let stays = judge(&one).first().is_some_and(|judged| {
            let is_unclear = judged.class == Class::Undecided && judged.is_large;
            judged.class.is_suspect() || (is_unclear && samples >= BLOCKS as u64)
        });
        found.extend(own.place(site).filter(|_| stays).map(|place| ClearedOwner {
            owner: place.to_string(),
            class: Class::Undecided,
            bytes: Bytes(bytes),
            share: Bytes(bytes).share_of(Bytes(alive + bytes)),
            reason: format!(
                "nothing refers to it in the last snapshot, and {samples} of its samples were not freed"
            ),
        }));
    }
    found.sort_rows_by(|a, b| (Reverse(a.bytes), &a.owner).cmp(&(Reverse(b.bytes), &b.owner)));
    found
}

/// The moment before which all garbage of the end was allocated or freed, in seconds; `None` if collections were not counted.
fn collected_by(recording: &Recording) -> Option<f64> {
    let spans = &recording.description.process.collections.as_ref()?.over_time;
    let mut cycles = 0;
    let last = spans.iter().rev().find(|span| {
        cycles += span.major_cycles.unwrap_or(0);
        cycles >= FREE_WITHIN
    })?;
    Some(last.from)
}
