//! Exact range of the mean of a Poisson distribution, given one draw.

use statrs::distribution::{ContinuousCDF, Gamma};

/// Probability that the mean is below the range, and as much that it is above: together 5 %.
const OUTSIDE: f64 = 0.025;

/// Draws from which on the normal distribution is close enough: the ranges differ by less than 0.2 %.
const LARGE: f64 = 1e4;

/// Lower and upper bound of a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The mean is below this in 2.5 % of cases at most.
    pub low: f64,
    /// The mean is above this in 2.5 % of cases at most.
    pub high: f64,
}

/// The 95 % range of a mean of which `n` was drawn.
///
/// F. Garwood, *Fiducial limits for the Poisson distribution*, Biometrika 28, 1936: its bounds are
/// quantiles of gamma distributions. They are continuous in `n`, so that they also serve for the number of
/// samples that a weighted sum is worth (M. P. Fay and E. J. Feuer, *Confidence intervals for directly
/// standardized rates*, Statistics in Medicine 16, 1997).
pub fn poisson(n: f64) -> Bounds {
    if n.is_nan() || n < 0.0 {
        return Bounds { low: 0.0, high: f64::INFINITY };
    }
    if n >= LARGE {
        let error = 1.96 * n.sqrt();
        return Bounds { low: n - error, high: n + error };
    }
    // The lower bound of less than a sample is 0 to within a few digits.
    let low = if n < 0.01 { 0.0 } else { quantile(n, OUTSIDE) };
    Bounds { low, high: quantile(n + 1.0, 1.0 - OUTSIDE) }
}

/// A quantile of the gamma distribution of this shape and of scale 1.
fn quantile(shape: f64, probability: f64) -> f64 {
    Gamma::new(shape, 1.0).map_or(shape, |gamma| gamma.inverse_cdf(probability))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_tables() {
        // E. S. Pearson and H. O. Hartley, Biometrika Tables for Statisticians, table 40.
        for (n, low, high) in [
            (0.0, 0.0, 3.69),
            (1.0, 0.0253, 5.57),
            (2.0, 0.242, 7.22),
            (3.0, 0.619, 8.77),
            (5.0, 1.62, 11.67),
            (10.0, 4.80, 18.39),
            (50.0, 37.11, 65.92),
        ] {
            let found = poisson(n);
            assert!((found.low - low).abs() <= 0.005 * low.max(0.1), "{n}: {found:?}");
            assert!((found.high - high).abs() <= 0.005 * high, "{n}: {found:?}");
        }
    }

    #[test]
    fn bounds_have_no_steps() {
        let mut last = poisson(0.0);
        for n in 1..2_000 {
            let next = poisson(f64::from(n) / 100.0);
            assert!(next.low >= last.low && next.high > last.high, "{n}: {next:?}");
            last = next;
        }
        let (below, above) = (poisson(LARGE - 1.0), poisson(LARGE));
        assert!((above.low / below.low - 1.0).abs() < 2e-3, "{below:?}, {above:?}");
        assert!((above.high / below.high - 1.0).abs() < 2e-3, "{below:?}, {above:?}");
        for n in [f64::NAN, -1.0, f64::INFINITY, f64::MIN_POSITIVE] {
            assert!(poisson(n).high > 0.0);
        }
    }
}
