//! The sampled blocks of a snapshot that are alive, with what the allocation trace has of each: what answers
//! about both halves of a recording are made of.

use std::cmp::Reverse;
use std::ops::AddAssign;

use memtrail_heap::BlockIndex;
use memtrail_profile::Profile;
use memtrail_profile::blocks::Row;
use memtrail_profile::estimate::{Estimate, Sum};
use memtrail_trace::BlockId;
use serde::Serialize;

use super::loaded::LoadedSnapshot;
use crate::recording::Recording;

/// A sampled block that is alive.
#[derive(Clone, Copy)]
pub(crate) struct Live {
    pub(crate) block: BlockIndex,
    /// Its allocation.
    pub(crate) row: Row,
}

/// All of them.
pub(crate) fn live<'j>(
    loaded: &'j LoadedSnapshot,
    recording: &'j Recording,
) -> impl Iterator<Item = Live> + 'j {
    sampled(loaded, recording).filter_map(|sampled| {
        let Sampled { block, row, is_alive } = sampled;
        Some(Live { block, row: row.filter(|_| is_alive)? })
    })
}

/// A sampled block of a snapshot.
#[derive(Clone, Copy)]
pub(crate) struct Sampled {
    pub(crate) block: BlockIndex,
    /// Its allocation, if the trace has it.
    pub(crate) row: Option<Row>,
    /// Whether anything retains it.
    pub(crate) is_alive: bool,
}

/// All sampled blocks, also those that are not alive or not in the trace.
pub(crate) fn sampled<'j>(
    loaded: &'j LoadedSnapshot,
    recording: &'j Recording,
) -> impl Iterator<Item = Sampled> + 'j {
    let heap = loaded.heap();
    heap.snapshot.samples.iter().map(move |sample| Sampled {
        block: sample.block,
        row: recording.profile().find(BlockId(sample.id)),
        is_alive: heap.graph.is_reachable(sample.block),
    })
}

/// What is estimated of blocks from those that were sampled.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AliveEstimate {
    /// Bytes, sampled or not, and of memory off the heap that they own.
    pub bytes: Estimate,
    /// How many, sampled or not.
    pub blocks: Estimate,
    /// How many were sampled.
    pub sampled: u64,
    /// When they were allocated, in seconds since the start: a tenth of the bytes before the first moment, half before
    /// the second, all but a tenth before the third.
    pub allocated: Option<[f64; 3]>,
}

impl AliveEstimate {
    /// For an order by size, largest first.
    pub(crate) const fn descending(&self) -> Reverse<u64> {
        Reverse(self.bytes.value.round() as u64)
    }
}

/// Adds blocks of another process, which was sampled independently.
impl AddAssign for AliveEstimate {
    fn add_assign(&mut self, more: Self) {
        self.allocated = match (self.sampled, more.sampled) {
            (0, _) => more.allocated,
            (_, 0) => self.allocated,
            // Processes start at different times.
            _ => None,
        };
        self.bytes += more.bytes;
        self.blocks += more.blocks;
        self.sampled += more.sampled;
    }
}

/// Sums up blocks.
#[derive(Default)]
pub(crate) struct Tally {
    sum: Sum,
    /// Moments of allocation in microseconds, with samples.
    moments: Vec<(u64, u64)>,
}

impl Tally {
    pub(crate) fn add(&mut self, profile: &Profile, live: Live) {
        profile.estimator.add_row(&mut self.sum, &profile.blocks, live.row);
        let moment = profile.blocks.allocated(live.row).0;
        self.moments.push((moment, profile.blocks.samples(live.row)));
    }

    /// Samples: bytes without a unit, to compare with others.
    pub(crate) const fn samples(&self) -> u64 {
        self.sum.samples
    }

    /// When half of the samples had been allocated, in microseconds; none if there are none.
    pub(crate) fn median_moment(&self) -> Option<u64> {
        let mut moments = self.moments.clone();
        moments.sort_unstable();
        let all: u64 = moments.iter().map(|(_, samples)| *samples).sum();
        let mut seen = 0_u64;
        let half = moments.iter().find(|(_, samples)| {
            seen += samples;
            seen >= all.div_ceil(2)
        });
        half.map(|(moment, _)| *moment)
    }

    pub(crate) fn finish(mut self, profile: &Profile) -> AliveEstimate {
        self.moments.sort_unstable();
        AliveEstimate {
            bytes: profile.estimator.bytes(&self.sum),
            blocks: profile.estimator.blocks(&self.sum),
            sampled: self.sum.recorded,
            allocated: quantiles(&self.moments),
        }
    }
}

/// The moments before which a tenth, half and nine tenths of the samples are.
fn quantiles(moments: &[(u64, u64)]) -> Option<[f64; 3]> {
    let all: u64 = moments.iter().map(|(_, samples)| *samples).sum();
    let (last, _) = moments.last()?;
    let mut found = [*last; 3];
    for (found, tenths) in found.iter_mut().zip([1, 5, 9]) {
        let mut seen = 0u64;
        let at = moments.iter().find(|(_, samples)| {
            seen += samples;
            u128::from(seen) * 10 >= u128::from(all) * tenths
        });
        *found = at.map_or(*last, |(moment, _)| *moment);
    }
    Some(found.map(|moment| moment as f64 / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_count_samples() {
        assert_eq!(quantiles(&[]), None);
        assert_eq!(quantiles(&[(2_000_000, 1)]), Some([2.0; 3]));
        let moments: Vec<(u64, u64)> = (1..=10).map(|second| (second * 1_000_000, 7)).collect();
        assert_eq!(quantiles(&moments), Some([1.0, 5.0, 9.0]));
        assert_eq!(quantiles(&[(1_000_000, 98), (9_000_000, 2)]), Some([1.0; 3]));
    }
}
