//! What is judged: sizes by snapshot and dates of samples, small enough to be stored with a test.

use serde::{Deserialize, Serialize};

use super::constants::{BLOCKS, EARLY, SAME, STEADY, UNDECIDED_BYTES};

/// Everything that a verdict on a recording depends on. Work is a part of all that was allocated until the last snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of stored files")]
pub struct Evidence {
    /// Work at each snapshot, ascending to 1; nothing if there is no snapshot.
    pub work: Vec<f64>,
    /// Bytes alive in each snapshot.
    pub alive: Vec<u64>,
    /// Work up to the recording's end: 1 if that is the last snapshot.
    pub end: f64,
    /// Work at which blocks were sampled, at even ranks of them.
    pub sampled: Vec<f64>,
    /// Samples up to the last snapshot.
    pub before: u64,
    /// Samples after it.
    pub after: u64,
    /// Part of what is allocated that the same call sites allocate before and after each twentieth of the work.
    pub same_sites: Vec<Option<f64>>,
    /// True if the program was stopped by a signal, or still runs: it would have gone on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stopped: bool,
    /// True if the recording did not begin with the program, or the process was forked: what it had before is in no sample, and in the first snapshot alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_attached: bool,
    /// Bytes by which resident memory grew from the beginning of such a recording to its end, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident_grown: Option<f64>,
    /// True if it worked for a moment, and then waited: that may have been its start alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_start: bool,
    /// CPU time that the program has used since it allocated nearly all, as a multiple of what it had used by then. Nothing if it
    /// allocated to the end, or if that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worked_on: Option<f64>,
    /// True if sizes are estimates from samples, of call sites that are judged one by one.
    #[serde(default)]
    pub is_estimated: bool,
    /// Bytes of allocation for each sample, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_sample: Option<f64>,
    /// Owners that are or were large.
    pub owners: Vec<OwnerEvidence>,
}

/// What is known of an owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnerEvidence {
    /// Kind of its root.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its exact size in each snapshot.
    pub sizes: Vec<u64>,
    /// Live samples.
    pub live: u64,
    /// Work at which they were allocated, ascending; at most 256 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub births: Vec<f64>,
    /// Bytes that each of them stands for: more where fewer blocks were sampled. Empty in evidence of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// Blocks that the same call sites allocated and that were freed; at most 256 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub freed: Vec<Life>,
    /// Bytes of those from the first half of the work that nobody has any more, and that were not collected.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub waiting: f64,
    /// Blocks that the same call sites allocated after the last snapshot and that were never freed.
    #[serde(default)]
    pub stayed: u64,
    /// Work, and bytes owned up to there by threads that never end, by the numbers of threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<(f64, u64)>,
    /// Work, and size of each block that replaced a smaller one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<(f64, u64)>,
    /// Part of its bytes that other calls of a recursive function own than the one that owns most; only of stacks.
    #[serde(default)]
    pub recursion: f64,
    /// True if it is a table of `Ephemeron`, most of whose keys others retain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows_keys: bool,
    /// True if it consists of weak arrays: the collector decides when what was put in is taken out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub emptied_by_collector: bool,
}

/// True for no bytes: files do not have them.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_nothing(bytes: &f64) -> bool {
    *bytes == 0.0
}

impl OwnerEvidence {
    /// The dates of live samples, each with what it stands for.
    pub(super) fn dated(&self) -> impl Iterator<Item = (f64, f64)> {
        let weights = self.weights.iter().copied().chain(std::iter::repeat(1.0));
        self.births.iter().copied().zip(weights)
    }
}

/// A block that was freed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Life {
    /// Work at its allocation.
    pub born: f64,
    /// Work at which it was freed.
    pub died: f64,
    /// Bytes that the sample stands for.
    pub bytes: f64,
}

/// The work since a moment, compared with the work before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Before and after, the same call sites allocate, or too few samples tell.
    Same,
    /// Since then other call sites allocate, the same ones until the end: a server after its start, or the last stage of a task.
    Steady,
    /// Since then other call sites allocate, and they change again: stages of a task.
    Changing,
    /// Since then other call sites allocate, and too few samples tell if they change again.
    Unclear,
}

/// Dates and lives of an owner that are kept at most.
pub const MAX_DATES: usize = 256;
/// Ranks of samples that are kept at most.
pub const MAX_RANKS: usize = 129;

/// Subsample of values at even places, the first and the last among them.
pub fn subsampled<T: Clone>(values: &[T], most: usize) -> Vec<T> {
    if values.len() <= most || most < 2 {
        return values.to_vec();
    }
    (0..most).map(|place| values[place * (values.len() - 1) / (most - 1)].clone()).collect()
}

impl Evidence {
    /// Rank of a moment among all samples, from 0 to 1. Without samples, it is the work itself.
    pub(super) fn rank(&self, work: f64) -> f64 {
        let Some(last) = self.sampled.len().checked_sub(1).filter(|last| *last > 0) else {
            return work.clamp(0.0, 1.0);
        };
        let next = self.sampled.partition_point(|at| *at < work);
        if next == 0 || next > last {
            return if next == 0 { 0.0 } else { 1.0 };
        }
        let (from, to) = (self.sampled[next - 1], self.sampled[next]);
        let part = if to > from { (work - from) / (to - from) } else { 1.0 };
        ((next - 1) as f64 + part) / last as f64
    }

    /// True if call sites are judged by so few samples that a leak would not have shown.
    pub(in crate::leaks) fn is_sparse(&self) -> bool {
        let samples = self.before + self.after;
        let unseen = self.bytes_per_sample.unwrap_or(0.0) * BLOCKS as f64;
        self.is_estimated && samples < BLOCKS as u64 && unseen > UNDECIDED_BYTES
    }

    /// Compares the work since a moment with the work before it.
    pub(super) fn phase(&self, since: f64) -> Phase {
        if self.same_work(since).is_none_or(|same| same >= SAME) {
            return Phase::Same;
        }
        let parts = (self.same_sites.len() + 1) as f64;
        let splits = self.same_sites.iter().enumerate();
        let splits = splits.map(|(place, same)| ((place + 1) as f64 / parts, *same));
        let later = splits.filter(|(at, _)| *at >= (1.0 - since).mul_add(EARLY, since));
        // A phase without change has this part in common on both sides, as none of it is before the phase.
        let common = later.filter_map(|(at, same)| Some(same? * at / (at - since)));
        match common.min_by(f64::total_cmp) {
            None => Phase::Unclear,
            Some(least) if least >= STEADY => Phase::Steady,
            Some(_) => Phase::Changing,
        }
    }

    /// Part of what is allocated that the same call sites allocate before and after a moment.
    pub(super) fn same_work(&self, since: f64) -> Option<f64> {
        // What began at once has to be compared with its later half.
        let at = if since <= 0.25 { 0.5 } else { since };
        let place = (at * (self.same_sites.len() + 1) as f64).round().max(1.0) as usize - 1;
        let last = self.same_sites.len().checked_sub(1)?;
        self.same_sites.get(place.min(last)).copied().flatten()
    }
}
