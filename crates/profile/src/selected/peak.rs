//! The peak of the blocks that a filter keeps, exact.
//!
//! What is live at the end of each bucket of time is known. Within a bucket there is never more
//! than at its beginning and all that comes in it together, so only buckets where that is more
//! than the highest end can hold the peak. Their events alone are put in order.

use super::part::Selected;
use crate::filter::Resolved;
use crate::filter::rows::{CHUNK, Chunk};
use crate::live_series::Peak;
use crate::profile::Profile;
use crate::time::{Elapsed, NEVER};

/// The first time at which most of what a filter keeps was live, and how much. `chosen` must be
/// of the same profile and filter.
pub fn peak(profile: &Profile, filter: &Resolved, selected: &Selected) -> Peak {
    if filter.is_everything() {
        return profile.live_series.peak();
    }
    let live_series = &profile.live_series;
    let least = selected.live_series.iter().copied().max().unwrap_or(0);
    let mut before = 0;
    let mut candidates = vec![false; selected.live_series.len()];
    let buckets = selected.births.iter().zip(&selected.live_series);
    for (candidate, (&births, &end)) in candidates.iter_mut().zip(buckets) {
        // Where nothing comes, nothing rises.
        *candidate = births > 0 && before + births >= least;
        before = end;
    }

    // (time, samples that came or went)
    let mut events: Vec<(u64, i64)> = Vec::new();
    each(profile, filter, |born, died, samples| {
        if candidates[live_series.bucket_of(born)] {
            events.push((born, samples as i64));
        }
        if died != NEVER && candidates[live_series.bucket_of(died)] {
            events.push((died, -(samples as i64)));
        }
    });
    events.sort_unstable_by_key(|&(time, _)| time);

    let mut peak = Peak::default();
    let mut bucket = usize::MAX;
    let mut live = 0_i64;
    for step in events.chunk_by(|(a, _), (b, _)| a == b) {
        let now = step[0].0;
        let at = live_series.bucket_of(now);
        if at != bucket {
            bucket = at;
            live = at.checked_sub(1).map_or(0, |before| selected.live_series[before] as i64);
        }
        live += step.iter().map(|&(_, change)| change).sum::<i64>();
        if live.max(0) as u64 > peak.samples {
            peak = Peak { time: Elapsed(now), samples: live as u64 };
        }
    }
    peak
}

fn each(profile: &Profile, filter: &Resolved, mut f: impl FnMut(u64, u64, u64)) {
    let mut chunk = Chunk::new();
    let all = profile.blocks.len();
    for first in (0..all).step_by(CHUNK) {
        let columns = profile.blocks.columns(first..(first + CHUNK).min(all));
        chunk.fill(filter, profile, &columns);
        for at in chunk.kept() {
            f(chunk.born[at], chunk.died[at], columns.samples(at));
        }
    }
}
