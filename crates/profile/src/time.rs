//! Time within a trace.

use std::ops::{Add, Sub};

/// Microseconds since the trace's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Elapsed(pub u64);

impl Elapsed {
    /// The latest time there is, almost nine years; later ones are taken for it.
    pub const LAST: Self = Self((1 << 48) - 2);

    /// Seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Time from `earlier` to here, 0 if that is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Elapsed {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Elapsed {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.since(other)
    }
}

/// A time in six bytes: 2^48 µs are almost nine years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed([u16; 3]);

impl Packed {
    /// No time: the block was never promoted, or never collected.
    pub(crate) const NEVER: Self = Self([u16::MAX; 3]);

    /// Later times than nine years are taken for nine years.
    pub(crate) fn new(time: Elapsed) -> Self {
        let t = time.0.min(Elapsed::LAST.0);
        Self([t as u16, (t >> 16) as u16, (t >> 32) as u16])
    }

    /// [`Packed::NEVER`] is later than any time.
    pub(crate) const fn time(self) -> Elapsed {
        let [low, middle, high] = self.0;
        Elapsed(low as u64 | (middle as u64) << 16 | (high as u64) << 32)
    }

    pub(crate) fn get(self) -> Option<Elapsed> {
        (self != Self::NEVER).then(|| self.time())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_bytes_keep_nine_years() {
        assert_eq!(size_of::<Packed>(), 6);
        for t in [0, 1, 65_535, 65_536, 1 << 40, (1 << 48) - 2] {
            assert_eq!(Packed::new(Elapsed(t)).get(), Some(Elapsed(t)));
        }
        assert_eq!(Packed::new(Elapsed(u64::MAX)).get(), Some(Elapsed((1 << 48) - 2)));
        assert_eq!(Packed::NEVER.get(), None);
    }
}
