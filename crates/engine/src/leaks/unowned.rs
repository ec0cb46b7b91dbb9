//! Blocks that nothing refers to in the only snapshot, although they outlived collections: a local variable that has returned
//! had them. One snapshot at the exit shows nothing of such a leak, so it cannot clear it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use memtrail_heap::Bytes;
use memtrail_profile::blocks::Row;
use memtrail_trace::{Site, Source};

use super::clock::Clock;
use super::gathered;
use super::own_code::{NearestSites, OwnCode};
use super::owned::Lifetime;
use super::response::ClearedOwner;
use super::verdict::{Class, Evidence, LEAST, OwnerEvidence, judge};
use crate::heap::join::sampled;
use crate::heap::loaded::LoadedSnapshot;
use crate::recording::Recording;

/// With so many snapshots, those while the program worked show what had the blocks.
pub(super) const SNAPSHOTS: usize = 3;
/// Collections that free what nothing refers to. Without them blocks that stay tell nothing.
const COLLECTIONS: u64 = 4;

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
    let mut found = Vec::new();
    for (site, lifetimes) in of_site {
        let stayed = || lifetimes.iter().filter(|block| block.is_owned);
        let bytes = stayed().map(|block| block.bytes).sum::<f64>() as u64;
        // Most of what is not reachable was freed, where it is garbage that waits for a collection.
        let freed = lifetimes.iter().filter(|block| block.freed.is_some()).count();
        if (bytes as f64) < LEAST || 2 * freed > stayed().count() {
            continue;
        }
        let owner = OwnerEvidence {
            kind: "site".to_owned(),
            sizes: vec![bytes],
            freed: gathered::freed(&lifetimes),
            ..OwnerEvidence::default()
        };
        let owner =
            gathered::with_births(owner, stayed().map(|block| (block.allocated, block.bytes)));
        let samples = owner.live;
        let one = Evidence {
            work: vec![1.0],
            alive: vec![alive + bytes],
            owners: vec![owner],
            ..evidence.clone()
        };
        let grows = judge(&one).first().is_some_and(|judged| judged.class.is_suspect());
        found.extend(own.place(site).filter(|_| grows).map(|place| ClearedOwner {
            owner: place.to_string(),
            class: Class::Undecided,
            bytes: Bytes(bytes),
            share: Bytes(bytes).share_of(Bytes(alive + bytes)),
            reason: format!(
                "nothing refers to it in the only snapshot, and none of its {samples} samples was freed"
            ),
        }));
    }
    found.sort_by(|a, b| (Reverse(a.bytes), &a.owner).cmp(&(Reverse(b.bytes), &b.owner)));
    found
}
