//! Whether all sampled blocks that the trace has as alive are in the snapshot, and why some are not.

use std::collections::HashMap;

use memtrail_profile::blocks::Row;
use memtrail_trace::{BlockId, Source};
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use super::parts::add_fields;
use crate::recording::Recording;

/// The sampled blocks of a trace against those of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Coverage {
    /// Sampled blocks that were alive at the snapshot by the trace: allocated before, and not reported as freed before.
    pub alive: u64,
    /// Of these, those that the snapshot has and something retains.
    pub found: u64,
    /// Those that it has and nothing retains: the next collection frees them.
    pub unreachable: u64,
    /// Those that it has not, and that were reported as freed later: they had been freed, the report was to come.
    pub reported_later: u64,
    /// Those that it has not, and that were never reported as freed: the program ended or the trace was cut before that,
    /// or the runtime lost them.
    pub not_found: u64,
    /// Blocks that the snapshot has as sampled and that are not alive by the trace: their allocation was to be
    /// written.
    pub unwritten: u64,
}

add_fields!(Coverage: alive, found, unreachable, reported_later, not_found, unwritten);

/// Compares them; nothing if it is unknown when the snapshot was taken.
pub(super) fn coverage(loaded: &LoadedSnapshot, recording: &Recording) -> Option<Coverage> {
    let (heap, profile) = (loaded.heap(), recording.profile());
    let (taken, start) = (heap.snapshot.facts.taken_at / 1000, profile.info.start.0);
    let taken = taken.checked_sub(start).filter(|_| taken > 0)?;
    let mut coverage = Coverage::default();
    let mut in_snapshot: HashMap<Row, bool> = HashMap::new();
    for sample in &heap.snapshot.samples {
        match profile.find(BlockId(sample.id)) {
            Some(row) => {
                in_snapshot.insert(row, heap.graph.is_reachable(sample.block));
            }
            None => coverage.unwritten += 1,
        }
    }
    // Memory from malloc is in no snapshot.
    let is_of_heap = |row: &Row| {
        !recording.description.has_malloc || profile.blocks.source(*row) != Source::External
    };
    for row in profile.blocks.rows().filter(is_of_heap) {
        let freed = profile.blocks.collected(row);
        let is_alive =
            profile.blocks.allocated(row).0 <= taken && freed.is_none_or(|freed| freed.0 > taken);
        let found = in_snapshot.get(&row);
        if !is_alive {
            coverage.unwritten += u64::from(found.is_some());
            continue;
        }
        coverage.alive += 1;
        let count = match (found, freed) {
            (Some(true), _) => &mut coverage.found,
            (Some(false), _) => &mut coverage.unreachable,
            (None, Some(_)) => &mut coverage.reported_later,
            (None, None) => &mut coverage.not_found,
        };
        *count += 1;
    }
    Some(coverage)
}
