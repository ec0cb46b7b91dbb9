//! How much a filter keeps in all.

use memtrail_profile::Profile;
use memtrail_profile::estimate::Estimate;
use serde::Serialize;

use crate::selection::FilterSelection;

/// How much a filter keeps in all. Bytes, seconds.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct Sums {
    pub(crate) allocated: Estimate,
    pub(crate) blocks: Estimate,
    /// Bytes never collected.
    pub(crate) live_end: f64,
    pub(crate) peak: Peak,
    /// Of a byte, on average; none if there are none.
    pub(crate) lifetime: Option<f64>,
}

/// When most was live, and how much.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct Peak {
    time: f64,
    bytes: f64,
}

impl Sums {
    pub(crate) fn new(profile: &Profile, selection: &FilterSelection) -> Self {
        let (selected, estimator) = (&selection.selected, &profile.estimator);
        let peak = selection.peak(profile);
        let samples = selected.sum.samples;
        Self {
            allocated: estimator.bytes(&selected.sum),
            blocks: estimator.blocks(&selected.sum),
            live_end: estimator.bytes_of(selected.live_end),
            peak: Peak { time: peak.time.seconds(), bytes: estimator.bytes_of(peak.samples) },
            lifetime: (samples > 0).then(|| selected.age / samples as f64 / 1e6),
        }
    }
}
