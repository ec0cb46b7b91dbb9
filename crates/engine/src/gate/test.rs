//! One estimate against one limit.

use memtrail_stats::tail;

use super::chance::ALPHA;
use super::response::Verdict;

/// How far an estimate is from its limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test {
    /// Standard errors above the limit, by the error that was estimated.
    pub(super) above: f64,
    /// Standard errors below the limit, by the error of a figure that is as large as the limit: where little was
    /// sampled, the error that is estimated from it is too small.
    pub(super) below: f64,
    /// How often the figure was made anew of other samples, if it is the highest of a series.
    pub(super) renewals: f64,
    /// Gates that are judged together.
    pub(super) tests: usize,
}

impl Test {
    /// The verdict, and its confidence.
    ///
    /// The highest of a series fails more easily than each of its values. For one whose correlation falls as
    /// 1 − C·t, as that of a sum over blocks that come and go, P(max > z) ≈ C·T·z²·P(one > z): J. Pickands, *Upcrossing
    /// probabilities for stationary Gaussian processes*, 1969. C·T is how often all its samples are renewed. Of many
    /// tests each must be as much surer (C. E. Bonferroni, 1936).
    pub(super) fn verdict(&self) -> (Verdict, Option<f64>) {
        let tests = self.tests.max(1) as f64;
        let one = tail(self.above);
        // None is so small that it cannot be, whatever it is multiplied with.
        let some = if one == 0.0 { 0.0 } else { 1.0 + self.renewals.max(0.0) * self.above.powi(2) };
        let above = tests * some * one;
        let below = tests * tail(self.below);
        if self.above > 0.0 && above <= ALPHA {
            (Verdict::Failed, Some(1.0 - above))
        } else if self.below > 0.0 && below <= ALPHA {
            (Verdict::Passed, Some(1.0 - below))
        } else {
            (Verdict::Undecided, None)
        }
    }
}

/// A difference in standard errors. One without an error is certain: of none there are no deviations above, and
/// `at_limit` below.
pub(super) fn deviations(difference: f64, stderr: f64, at_limit: f64) -> f64 {
    if stderr > 0.0 {
        difference / stderr
    } else if difference > 0.0 {
        f64::INFINITY
    } else if difference < 0.0 {
        f64::NEG_INFINITY
    } else {
        at_limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(above: f64, renewals: f64, tests: usize) -> Verdict {
        Test { above, below: -above, renewals, tests }.verdict().0
    }

    #[test]
    fn only_what_chance_does_not_explain_fails() {
        assert_eq!(verdict(3.0, 0.0, 1), Verdict::Undecided);
        assert_eq!(verdict(3.2, 0.0, 1), Verdict::Failed);
        assert_eq!(verdict(3.2, 0.0, 3), Verdict::Undecided);
        assert_eq!(verdict(3.2, 10.0, 1), Verdict::Undecided);
        assert_eq!(verdict(6.0, 1e3, 5), Verdict::Failed);
        assert_eq!(verdict(-3.2, 0.0, 1), Verdict::Passed);
        assert_eq!(verdict(-3.0, 0.0, 1), Verdict::Undecided);
        assert_eq!(verdict(f64::INFINITY, 1e9, 9), Verdict::Failed);
        assert_eq!(verdict(f64::NEG_INFINITY, 1e9, 9), Verdict::Passed);
    }

    #[test]
    fn without_an_error_the_limit_itself_is_kept() {
        let exactly = |value: f64, limit: f64| Test {
            above: deviations(value - limit, 0.0, 0.0),
            below: deviations(limit - value, 0.0, f64::INFINITY),
            renewals: 3.0,
            tests: 1,
        };
        assert_eq!(exactly(8.0, 8.0).verdict().0, Verdict::Passed);
        assert_eq!(exactly(9.0, 8.0).verdict().0, Verdict::Failed);
        assert_eq!(exactly(7.0, 8.0).verdict().0, Verdict::Passed);
    }
}
