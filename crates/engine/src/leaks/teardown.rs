//! The end of a program: the end of `main`, exit handlers and destructors free what it had. A verdict is made before that.

use memtrail_heap::Bytes;
use memtrail_profile::time::Elapsed;
use memtrail_text::rounded::{bytes, seconds};
use serde::Serialize;

use super::verdict::LEAST;
use crate::heap::snapshot_store::Known;
use crate::recording::Recording;

/// Part of what was alive that the end of a program frees. A program that ends amid its work frees nothing.
const FREED: f64 = 0.5;
/// Part of the time for which a program works without allocating, if it is judged after that.
const WITHOUT_ALLOCATION: f64 = 0.1;
/// Part of that which is freed once the end has begun.
const BEGUN: f64 = 0.01;
/// Part of the work after which a program may have begun to end: exit handlers allocate little.
const WORKED: f64 = 0.99;
/// The reason of snapshots at the exit.
const EXIT: &str = "exit";

/// Memory that the end of a program freed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Teardown {
    /// When the verdict was made, in seconds since the start: before the program ended.
    pub judged_at: f64,
    /// Bytes that were alive then.
    pub alive: Bytes,
    /// Bytes of these that were freed until the end.
    pub freed: Bytes,
}

impl Teardown {
    fn of(judged_at: f64, alive: u64, left: u64) -> Option<Self> {
        let freed = alive.saturating_sub(left);
        let is_cliff = freed as f64 >= LEAST.max(FREED * alive as f64);
        is_cliff.then_some(Self { judged_at, alive: Bytes(alive), freed: Bytes(freed) })
    }

    /// States it in a sentence.
    pub(crate) fn description(&self) -> String {
        let Self { judged_at, alive, freed } = self;
        format!(
            "judged at {}, before the end of the program freed {} of {}",
            seconds(*judged_at),
            bytes(freed.0 as f64),
            bytes(alive.0 as f64)
        )
    }
}

/// Finds the end of a program that frees its memory itself. `None` unless it freed most of what was alive.
pub(super) fn of_samples(
    recording: &Recording,
    time_of_work: impl Fn(f64) -> f64,
) -> Option<Teardown> {
    let profile = recording.profile();
    let blocks = &profile.blocks;
    let at = time_of_work(WORKED);
    let (mut alive, mut left) = (0, 0);
    let mut ends: Vec<(Elapsed, u64)> = Vec::new();
    for row in blocks.rows() {
        let (freed, samples) = (blocks.collected(row), blocks.samples(row));
        let is_before = blocks.allocated(row).seconds() <= at;
        if is_before && freed.is_none_or(|freed| freed.seconds() > at) {
            alive += samples;
            ends.extend(freed.map(|freed| (freed, samples)));
        }
        // Blocks that replaced live ones count, too: `realloc` frees a buffer each time it grows.
        left += if freed.is_none() { samples } else { 0 };
    }
    let size = |samples: u64| (samples as f64 * profile.estimator.bytes_per_sample()) as u64;
    // A program may work for long without allocating before it ends.
    let is_long = |until: f64| until - at > WITHOUT_ALLOCATION * profile.end.seconds();
    ends.sort_unstable();
    let mut gone = 0;
    let begun = ends.iter().find(|(_, samples)| {
        gone += samples;
        gone as f64 > BEGUN * alive as f64
    });
    let before = begun.map(|(freed, _)| Elapsed(freed.0.saturating_sub(1)).seconds());
    let judged_at = before.filter(|before| is_long(*before)).unwrap_or(at);
    Teardown::of(judged_at, size(alive), size(left))
}

/// The snapshot before the exit, and what was freed after it. `None` unless `number` is the snapshot at the exit and most of
/// what was alive before is not in it.
pub(crate) fn of_snapshots(known: &[Known], number: u64, start: f64) -> Option<(u64, Teardown)> {
    let last = known.iter().position(|known| known.facts.number == number)?;
    let [before, exit] = known.get(last.checked_sub(1)?..=last)? else { return None };
    if exit.facts.reason != EXIT {
        return None;
    }
    let alive = |known: &Known| {
        let summary = known.summary.as_ref().filter(|summary| summary.damage.is_none())?;
        Some((summary.bytes + summary.external).0)
    };
    let at = (before.facts.taken_unix - start).max(0.0);
    Some((before.facts.number, Teardown::of(at, alive(before)?, alive(exit)?)?))
}
