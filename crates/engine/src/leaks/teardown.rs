//! The end of a program: the end of `main`, exit handlers and destructors free what it had. A verdict is made before that.

use memtrail_heap::Bytes;
use memtrail_profile::blocks::Row;
use memtrail_profile::time::Elapsed;
use memtrail_text::rounded::{bytes, seconds};
use memtrail_trace::Source;
use serde::Serialize;

use super::clock::Clock;
use super::verdict::LEAST;
use crate::heap::file::SnapshotFacts;
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
    /// The snapshot by which it was made, if that is not the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<u64>,
}

impl Teardown {
    fn of(judged_at: f64, alive: u64, left: u64) -> Option<Self> {
        let freed = alive.saturating_sub(left);
        let is_cliff = freed as f64 >= LEAST.max(FREED * alive as f64);
        let (alive, freed) = (Bytes(alive), Bytes(freed));
        is_cliff.then_some(Self { judged_at, alive, freed, snapshot: None })
    }

    /// States it in a sentence.
    pub(crate) fn description(&self) -> String {
        let Self { judged_at, alive, freed, .. } = self;
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

/// Part of the work after which a snapshot shows what was kept until the end, though not in its last size.
const SHOWN: f64 = 0.5;
/// Last part of the work, in which a program frees what it leaked.
const LAST: f64 = 0.1;
/// Bytes freed in the last part, as a multiple of those left. A cache that is renewed frees less than itself.
const MULTIPLE: f64 = 2.0;
/// The smallest number of bytes that this is said of, and of samples.
const KEPT_BYTES: f64 = 1024.0 * 1024.0;
const KEPT_SAMPLES: usize = 8;

/// Bytes that were kept for long and freed shortly before the snapshot at the exit: a program that cleans up before it ends hides its
/// leak. `None` unless they are more than what is left, and no earlier snapshot shows who had them. A snapshot after a major collection
/// shows less than there was before, too: that was garbage.
pub(super) fn freed_at_end(
    recording: &Recording,
    snapshot: Option<&SnapshotFacts>,
    (clock, work): (&Clock, &[f64]),
    left: Bytes,
) -> Option<Bytes> {
    let is_shown = work.iter().rev().skip(1).any(|at| *at >= SHOWN);
    let is_exit = snapshot.is_some_and(|facts| facts.reason == EXIT);
    if is_shown || !is_exit || clock.stands() {
        return None;
    }
    let profile = recording.profile();
    let blocks = &profile.blocks;
    let is_freed = |row: &Row| {
        let Some(died) = blocks.collected(*row) else { return false };
        let died = clock.at(died.seconds());
        let born = clock.at(blocks.allocated(*row).seconds());
        died > 1.0 - LAST && died - born >= LAST && blocks.source(*row) != Source::External
    };
    let (mut count, mut samples) = (0, 0);
    for row in blocks.rows().filter(is_freed) {
        count += 1;
        samples += blocks.samples(row);
    }
    let freed = samples as f64 * profile.estimator.bytes_per_sample();
    let is_much = count >= KEPT_SAMPLES && freed >= KEPT_BYTES.max(MULTIPLE * left.0 as f64);
    is_much.then_some(Bytes(freed as u64))
}

/// The memory that the end of a program freed after the snapshot before the exit. `None` unless `number` is the snapshot at the exit and
/// most of what was alive before is not in it. What the program freed while it worked on is no end: no collection follows the
/// end of its work.
pub(crate) fn of_snapshots(
    known: &[Known],
    number: u64,
    recording: &Recording,
) -> Option<Teardown> {
    let last = known.iter().position(|known| known.facts.number == number)?;
    let [before, exit] = known.get(last.checked_sub(1)?..=last)? else { return None };
    if exit.facts.reason != EXIT {
        return None;
    }
    let alive = |known: &Known| {
        let summary = known.summary.as_ref().filter(|summary| summary.damage.is_none())?;
        Some((summary.bytes + summary.external).0)
    };
    let start = recording.profile().info.start.0 as f64 / 1e6;
    let at = (before.facts.taken_unix - start).max(0.0);
    let at_work = alive(before)?.saturating_sub(collected_after(recording, at));
    let teardown = Teardown::of(at, alive(before)?, alive(exit)?)?;
    Teardown::of(at, at_work, alive(exit)?)?;
    Some(Teardown { snapshot: Some(before.facts.number), ..teardown })
}

/// Estimated bytes that were alive at a moment and were collected since.
fn collected_after(recording: &Recording, at: f64) -> u64 {
    let profile = recording.profile();
    let blocks = &profile.blocks;
    let is_after = |row: &Row| {
        let collected = blocks.collected(*row).map(Elapsed::seconds);
        blocks.allocated(*row).seconds() <= at && collected.is_some_and(|collected| collected > at)
    };
    let samples: u64 = blocks.rows().filter(is_after).map(|row| blocks.samples(row)).sum();
    (samples as f64 * profile.estimator.bytes_per_sample()) as u64
}
