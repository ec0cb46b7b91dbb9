//! How a suspect grows, in bytes and seconds. Seconds are printed, and judge nothing.

use memtrail_profile::estimate::Estimate;
use serde::Serialize;

use super::clock::Clock;
use super::verdict::{Judged, Reason};

/// An even leak has a tenth of its growth after a tenth of the work: what does so after this part began later.
const BEGAN_LATE: f64 = 0.25;

/// How something grows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GrowthRate {
    /// Bytes a second.
    pub rate: Estimate,
    /// Since when, in seconds since the start; 0 if since then.
    pub since: f64,
    /// Bytes by which it grew since.
    pub grown: f64,
    /// When it had reached half of its size, by snapshots.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub(super) half: Option<f64>,
    /// Until when, if the program has allocated hardly anything since.
    pub until: Option<f64>,
    /// Evidence of it: exact `snapshots`, `samples`, `sizes` of blocks that replaced each other, or `threads` that were started
    /// and have not ended.
    pub from: &'static str,
}

impl GrowthRate {
    /// The growth that was judged, of an owner with so many live samples, until `end` in seconds.
    pub(super) fn of(
        judged: &Judged,
        live: usize,
        (clock, work): (&Clock, &[f64]),
        end: f64,
    ) -> Self {
        let since = if judged.since > BEGAN_LATE { clock.time(judged.since) } else { 0.0 };
        let until = clock.waits_since(end);
        let seconds = (until.unwrap_or(end) - since).max(f64::MIN_POSITIVE);
        let error = match judged.reason {
            Reason::Samples | Reason::Lifetimes => 1.0 / (live.max(1) as f64).sqrt(),
            Reason::Snapshots | Reason::Threads | Reason::Sizes => 0.0,
        };
        let value = judged.grown / seconds;
        Self {
            rate: Estimate { value, stderr: value * error },
            since,
            grown: judged.grown,
            half: half(judged, work).filter(|_| !clock.stands()).map(|part| clock.time(part)),
            until,
            from: match judged.reason {
                Reason::Snapshots => "snapshots",
                Reason::Threads => "threads",
                Reason::Sizes => "sizes",
                Reason::Samples => "samples",
                Reason::Lifetimes => "lifetimes",
            },
        }
    }
}

/// Part of the work at which exact sizes reached half of the last one for good.
fn half(judged: &Judged, work: &[f64]) -> Option<f64> {
    let sizes = &judged.series.sizes;
    let half = sizes.last().filter(|_| judged.reason == Reason::Snapshots)? / 2.0;
    let below = sizes.iter().rposition(|size| *size < half)?;
    let (from, to) = (*sizes.get(below)?, *sizes.get(below + 1)?);
    let (start, end) = (*work.get(below)?, *work.get(below + 1)?);
    Some((half - from) / (to - from) * (end - start) + start)
}
