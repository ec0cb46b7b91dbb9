//! What is gathered of the places that a report names, and of no others.

use memtrail_order::SortRows as _;
use memtrail_trace::StackId;

use super::TENTHS;
use crate::profile::Profile;
use crate::select::Selection;
use crate::sites::{Places, Total};

/// What is gathered of one place.
#[derive(Default)]
pub(super) struct Details {
    /// Samples of each block, and its backtrace.
    stacks: Vec<(StackId, u32)>,
    /// Samples by tenth of the time.
    pub(super) by_tenth: [u64; TENTHS],
}

impl Details {
    /// One pass over the selection; the results are in the order of `named`.
    pub(super) fn gather(
        profile: &Profile,
        selection: &Selection,
        places: &Places<'_>,
        named: &[(usize, Total)],
    ) -> Vec<Self> {
        let mut rank = vec![usize::MAX; places.keys().len()];
        let mut details: Vec<Self> = Vec::with_capacity(named.len());
        for (index, &(place, total)) in named.iter().enumerate() {
            rank[place] = index;
            let stacks = Vec::with_capacity(total.sum.recorded as usize);
            details.push(Self { stacks, ..Self::default() });
        }
        let span = profile.end.0.saturating_add(1);
        for row in selection.rows(&profile.blocks) {
            let stack = profile.blocks.stack(row);
            let Some(detail) = details.get_mut(rank[places.of_stack(profile, stack)]) else {
                continue;
            };
            let samples = profile.blocks.samples(row);
            let time = profile.blocks.allocated(row).0;
            let tenth = (u128::from(time) * TENTHS as u128 / u128::from(span)) as usize;
            detail.by_tenth[tenth.min(TENTHS - 1)] += samples;
            // A block of more samples than that is worth several entries.
            let mut left = samples;
            while left > 0 {
                let part = left.min(u32::MAX.into());
                detail.stacks.push((stack, part as u32));
                left -= part;
            }
        }
        details
    }

    /// Samples by distinct backtrace.
    pub(super) fn by_stack(mut self) -> Vec<(StackId, u64)> {
        self.stacks.sort_rows_by_key(|&(stack, _)| stack);
        let same = |a: &(StackId, u32), b: &(StackId, u32)| a.0 == b.0;
        let sum = |run: &[(StackId, u32)]| run.iter().map(|&(_, samples)| u64::from(samples)).sum();
        self.stacks.chunk_by(same).map(|run| (run[0].0, sum(run))).collect()
    }
}
