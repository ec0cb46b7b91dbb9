//! A figure that was estimated from samples.

use memtrail_text::rounded::{bytes, bytes_between, bytes_with_error};
use serde::Serialize;

use crate::poisson::poisson;

/// An estimate and its standard error, in the same unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Estimate {
    /// Estimated figure.
    pub value: f64,
    /// Its estimated standard deviation.
    pub stderr: f64,
}

/// The range that an estimated figure is in, 19 times out of 20.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Estimates from fewer samples are printed as a range: around them, twice the standard error on both sides
/// would hold the truth in less than 94 of 100 cases.
pub const FEW_SAMPLES: f64 = 20.0;

impl Estimate {
    /// A figure without an error.
    pub const fn exact(value: f64) -> Self {
        Self { value, stderr: 0.0 }
    }

    /// A weighted number of samples: the sum of their weights, and the sum of the weights' squares.
    pub fn of_weights(sum: f64, squares: f64) -> Self {
        Self { value: sum, stderr: squares.max(0.0).sqrt() }
    }

    /// The number of samples of equal weight that would give this estimate; infinite if it is exact.
    pub fn samples(self) -> f64 {
        if self.stderr > 0.0 { (self.value / self.stderr).powi(2) } else { f64::INFINITY }
    }

    /// The range that the true figure is in, 19 times out of 20. A sum over blocks is assumed, not a difference.
    pub fn range(self) -> Range {
        let samples = self.samples();
        if !samples.is_finite() || samples <= 0.0 {
            return Range { low: self.value, high: self.value };
        }
        let (bounds, weight) = (poisson(samples), self.value / samples);
        Range { low: bounds.low * weight, high: bounds.high * weight }
    }

    /// A sum over blocks in bytes as text: `38.2 ±1.7 MiB` with its standard error, or its
    /// range, `0.4–13.6 MiB`, if it is worth fewer than [`FEW_SAMPLES`].
    pub fn size(self) -> String {
        if self.value > 0.0 && self.samples() < FEW_SAMPLES {
            let Range { low, high } = self.range();
            return bytes_between(low, high);
        }
        bytes_with_error(self.value, self.stderr)
    }

    /// The same, if samples of `unit` bytes were drawn: where there are none, the upper bound
    /// that holds 19 times out of 20.
    pub fn size_or_bound(self, unit: f64) -> String {
        if self.value == 0.0 && unit > 0.0 {
            return format!("< {}", bytes(unseen(unit)));
        }
        self.size()
    }

    /// The same figure in another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { value: self.value * factor, stderr: self.stderr * factor.abs() }
    }
}

/// Estimates that are independent of each other add up, and so do their variances.
impl std::ops::Add for Estimate {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, stderr: self.stderr.hypot(other.stderr) }
    }
}

impl std::ops::AddAssign for Estimate {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// The most bytes, 19 times out of 20, of blocks none of which was sampled, where each sample stands for `unit`
/// bytes: (1 − λ)^N = 0.05 where N = 3/λ.
pub fn unseen(unit: f64) -> f64 {
    3.0 * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sample_is_a_range() {
        let one = Estimate::of_weights(1024.0, 1024.0 * 1024.0);
        assert_eq!(one.size(), "0.03–5.57 KiB");
        let nine = Estimate { value: 9.0 * 1024.0, stderr: 3.0 * 1024.0 };
        assert_eq!(nine.size(), "4.1–17.1 KiB");
        let many = Estimate { value: 100.0 * 1024.0, stderr: 10.0 * 1024.0 };
        assert_eq!(many.size(), "100 ±10 KiB");
    }

    #[test]
    fn exact_figures_stay_so() {
        let exact = Estimate::exact(2048.0);
        assert_eq!(
            (exact.size(), exact.size_or_bound(512.0)),
            ("2.00 KiB".into(), "2.00 KiB".into())
        );
        assert_eq!(exact.range(), Range { low: 2048.0, high: 2048.0 });
        assert_eq!(Estimate::default().size(), "0 B");
        assert_eq!(Estimate::default().size_or_bound(0.0), "0 B");
        assert_eq!(Estimate::default().size_or_bound(1024.0), "< 3.00 KiB");
    }
}
