//! How much lower than the base rate a rate is.

use memtrail_recording::rates::MAX_HALVINGS;

/// How often the base rate is halved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Halvings(pub(crate) u8);

impl Halvings {
    /// How many samples one stands for.
    pub(crate) fn weight(self) -> u64 {
        1 << self.0.min(MAX_HALVINGS)
    }

    /// The rate that it makes of the base rate.
    pub(crate) fn of(self, base: f64) -> f64 {
        base / self.weight() as f64
    }
}
