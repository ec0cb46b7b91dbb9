//! The sampling rate, and what samples estimate.

use crate::units::{Bytes, Samples};

/// The probability that any one allocated byte is sampled.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(f64);

/// What sizes are rounded up to, before each of their bytes is sampled or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit(u64);

impl Unit {
    pub(crate) const BYTE: Self = Self(1);
    pub(crate) const WORD: Self = Self(8);

    /// The most that is added to a size.
    pub(crate) const fn rounding(self) -> u64 {
        self.0 - 1
    }

    pub(crate) fn round_up(self, size: Bytes) -> Bytes {
        Bytes(size.0.checked_next_multiple_of(self.0).unwrap_or(size.0))
    }
}

/// A number that is no rate.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("invalid rate: {0} is not above 0 and at most 1")]
pub struct InvalidRate(pub f64);

impl Rate {
    /// Every byte is sampled: each allocation is seen, and all figures are exact.
    pub const EXACT: Self = Self(1.0);

    /// Samples a byte: above 0 and at most 1.
    pub fn per_byte(probability: f64) -> Result<Self, InvalidRate> {
        if probability > 0.0 && probability <= 1.0 {
            Ok(Self(probability))
        } else {
            Err(InvalidRate(probability))
        }
    }

    /// One sample for so many bytes, on average. No bytes at all are taken for one.
    pub fn every(interval: Bytes) -> Self {
        Self(1.0 / interval.0.max(1) as f64)
    }

    /// The probability.
    pub const fn probability(self) -> f64 {
        self.0
    }

    /// What one sampled block of this size stands for: its size, divided by the probability that any byte of it is
    /// sampled. Sums of these are unbiased, and divided by the size they are numbers of blocks.
    pub fn weight(self, size: Bytes) -> Bytes {
        self.weight_in(Unit::BYTE, size)
    }

    /// The same where sizes are rounded up before.
    pub(crate) fn weight_in(self, unit: Unit, size: Bytes) -> Bytes {
        if self.0 >= 1.0 {
            return size;
        }
        let sampled = unit.round_up(Bytes(size.0.max(1))).0 as f64;
        let is_sampled = -(sampled * (-self.0).ln_1p()).exp_m1();
        Bytes((size.0.max(1) as f64 / is_sampled).round() as u64)
    }

    /// What the samples of any set of blocks say of the set's size.
    pub fn estimate(self, samples: Samples) -> Estimate {
        let (samples, rate) = (samples.0 as f64, self.0);
        Estimate { bytes: samples / rate, variance: samples * (1.0 - rate) / (rate * rate) }
    }
}

/// A number of bytes, estimated from samples. Both figures are unbiased: of N bytes each is sampled
/// by itself with probability p, so that their samples have the expected value Np and the variance
/// Np(1 - p).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub bytes: f64,
    /// Its variance; the standard error is the square root.
    pub variance: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_probabilities() {
        for wrong in [0.0, -1.0, 1.001, f64::NAN, f64::INFINITY] {
            assert!(Rate::per_byte(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Rate::per_byte(1.0), Ok(Rate::EXACT));
        assert_eq!(Rate::every(Bytes(4)), Rate(0.25));
        assert_eq!(Rate::every(Bytes(0)), Rate::EXACT);
    }

    /// Against the sum over all bytes, of a block whose bytes are sampled with one probability each.
    #[test]
    fn a_sampled_block_stands_for_those_that_are_not() {
        let oracle = |rate: f64, size: u64| {
            let missed = (0..size).fold(1.0, |missed, _| missed * (1.0 - rate));
            size as f64 / (1.0 - missed)
        };
        for rate in [0.9, 0.01, 1e-4] {
            for size in [1, 8, 100, 10_000, 1_000_000] {
                let (found, expected) =
                    (Rate(rate).weight(Bytes(size)).0 as f64, oracle(rate, size));
                assert!((found / expected - 1.0).abs() <= 1e-6 + 0.5 / expected, "{rate} {size}");
            }
        }
        assert_eq!(Rate::EXACT.weight(Bytes(17)), Bytes(17));
        assert_eq!(Rate::every(Bytes(512 << 10)).weight(Bytes(16)), Bytes((512 << 10) + 8));
    }

    #[test]
    fn exact_samples_have_no_variance() {
        let exact = Rate::EXACT.estimate(Samples(12));
        assert_eq!(exact, Estimate { bytes: 12.0, variance: 0.0 });
        let half = Rate::every(Bytes(2)).estimate(Samples(12));
        assert_eq!(half, Estimate { bytes: 24.0, variance: 24.0 });
    }
}
