//! How much memory, and how it becomes whole numbers.

use memtrail_profile::estimate::Estimator;

/// What was allocated, and what of it was never collected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weight {
    /// Samples allocated.
    pub samples: u64,
    /// Samples allocated, each times the number that it stands for beyond itself.
    pub excess: f64,
    /// Samples of the blocks that were never collected.
    pub live: u64,
    /// The same as `excess`, of the blocks that were never collected.
    pub live_excess: f64,
    /// Blocks allocated, estimated.
    pub blocks: f64,
    /// Blocks never collected, estimated.
    pub live_blocks: f64,
}

impl Weight {
    /// Whether there is nothing.
    pub fn is_nothing(&self) -> bool {
        self.samples == 0 && self.blocks == 0.0 && self.live == 0 && self.live_blocks == 0.0
    }
}

impl std::ops::AddAssign for Weight {
    fn add_assign(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.live = self.live.saturating_add(other.live);
        self.excess += other.excess;
        self.live_excess += other.live_excess;
        self.blocks += other.blocks;
        self.live_blocks += other.live_blocks;
    }
}

/// Rounds a series of amounts to whole numbers whose sum is the rounded sum: what rounding takes
/// from one is given to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounding {
    /// What has been asked for so far.
    exact: f64,
    /// What has been given so far.
    given: i64,
}

impl Rounding {
    /// The next amount as a whole number. Nothing becomes nothing.
    pub fn next(&mut self, amount: f64) -> i64 {
        if amount == 0.0 {
            return 0;
        }
        self.exact += amount;
        let next = self.exact.round() as i64 - self.given;
        self.given += next;
        next
    }
}

/// Rounds each column of [`Weight`]s for itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole {
    columns: [Rounding; 4],
}

impl Whole {
    /// Blocks and bytes allocated, blocks and bytes never collected.
    pub fn next(&mut self, weight: &Weight, estimator: &Estimator) -> [i64; 4] {
        let bytes = |samples: u64| samples as f64 * estimator.bytes_per_sample();
        let exact = [weight.blocks, bytes(weight.samples), weight.live_blocks, bytes(weight.live)];
        let mut whole = [0; 4];
        for ((whole, column), amount) in whole.iter_mut().zip(&mut self.columns).zip(exact) {
            *whole = column.next(amount);
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_sums() {
        let mut rounding = Rounding::default();
        let thirds: Vec<i64> = (0..9).map(|_| rounding.next(1.0 / 3.0)).collect();
        assert_eq!(thirds.iter().sum::<i64>(), 3);
        assert_eq!(rounding.next(0.0), 0);
        assert!(thirds.iter().all(|&third| (0..=1).contains(&third)));
    }
}
