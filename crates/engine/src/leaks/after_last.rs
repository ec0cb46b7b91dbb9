//! Memory that was allocated after the last snapshot and stayed until the end. No snapshot shows what has it, so none can clear it.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_heap::Bytes;
use memtrail_order::SortRows as _;
use memtrail_trace::{Site, Source};

use super::clock::Clock;
use super::own_code::{NearestSites, OwnCode};
use super::response::ClearedOwner;
use super::verdict::{BLOCKS, Class};
use crate::recording::Recording;

/// Smallest size that is worth a word, as a part of what was alive in the last snapshot …
const SHARE: f64 = 0.25;
/// … and the smallest number of bytes.
const LEAST: f64 = (4 << 20) as f64;

/// Call sites that allocated so late, and whose blocks in the major heap stayed, if half of the work was after the last
/// snapshot. That was at the moment `last` in seconds, and the heap had `alive` bytes.
pub(super) fn after_last(
    recording: &Recording,
    own: &OwnCode<'_>,
    clock: &Clock,
    last: f64,
    alive: Bytes,
) -> Vec<ClearedOwner> {
    let (before, after) = clock.sampled();
    if after <= before {
        return Vec::new();
    }
    let profile = recording.profile();
    let blocks = &profile.blocks;
    let mut nearest = NearestSites::new(own);
    // Bytes that stayed, blocks that did, and blocks that were freed.
    let mut of_site: HashMap<Site, (f64, usize, usize)> = HashMap::new();
    let is_late = |row: &_| {
        blocks.allocated(*row).seconds() > last
            && match blocks.source(*row) {
                Source::Minor => blocks.promoted(*row).is_some(),
                Source::Major => true,
                Source::External => false,
            }
    };
    for row in blocks.rows().filter(is_late) {
        let Some(site) = nearest.of(row) else { continue };
        let sum = of_site.entry(site).or_default();
        if blocks.collected(row).is_some() {
            sum.2 += 1;
        } else {
            sum.0 += blocks.samples(row) as f64 * profile.estimator.bytes_per_sample();
            sum.1 += 1;
        }
    }
    let stayed = of_site.into_iter().filter(|(_, (_, stayed, freed))| *stayed > *freed);
    let mut found: Vec<ClearedOwner> = stayed
        .filter(|(_, (_, count, _))| *count >= BLOCKS)
        .filter_map(|(site, (bytes, count, _))| {
            let bytes = Bytes(bytes as u64);
            Some(ClearedOwner {
                owner: own.place(site)?.to_string(),
                class: Class::Undecided,
                bytes,
                share: bytes.share_of(alive + bytes),
                reason: format!(
                    "allocated after the snapshot that was judged, and most of its {count} samples stayed"
                ),
            })
        })
        .collect();
    found.sort_rows_by(|a, b| (Reverse(a.bytes), &a.owner).cmp(&(Reverse(b.bytes), &b.owner)));
    let sum: u64 = found.iter().map(|site| site.bytes.0).sum();
    let is_large = sum as f64 >= LEAST.max(SHARE * alive.0 as f64);
    if is_large { found } else { Vec::new() }
}
