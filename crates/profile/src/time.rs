//! Time within a trace.

use std::ops::{Add, Range, Sub};

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

/// What is later than any time: the block was never promoted, or never collected.
pub(crate) const NEVER: u64 = (1 << 48) - 1;

/// A column of times, six bytes each: 2^48 µs are almost nine years. The low and the high bits
/// stand apart, as passes over many rows read such columns faster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    low: Vec<u32>,
    high: Vec<u16>,
}

/// Some rows of such a column.
#[derive(Clone, Copy)]
pub(crate) struct TimesPart<'a> {
    low: &'a [u32],
    high: &'a [u16],
}

impl Times {
    /// Bytes a row.
    pub(crate) const BYTES: usize = 6;

    pub(crate) fn push(&mut self, time: u64) {
        self.low.push(time as u32);
        self.high.push((time >> 32) as u16);
    }

    pub(crate) fn set(&mut self, row: usize, time: Elapsed) {
        let time = time.min(Elapsed::LAST).0;
        self.low[row] = time as u32;
        self.high[row] = (time >> 32) as u16;
    }

    /// The time of a row, [`NEVER`] if there is none.
    #[inline]
    pub(crate) fn at(&self, row: usize) -> u64 {
        whole(self.low[row], self.high[row])
    }

    pub(crate) fn get(&self, row: usize) -> Option<Elapsed> {
        Some(self.at(row)).filter(|&time| time != NEVER).map(Elapsed)
    }

    /// The first row whose time is `time` or later, in a column that is in order.
    pub(crate) fn first_from(&self, time: u64) -> usize {
        let before = self.high.partition_point(|&high| u64::from(high) < time >> 32);
        let same = self.high.partition_point(|&high| u64::from(high) <= time >> 32);
        before + self.low[before..same].partition_point(|&low| u64::from(low) < time & 0xffff_ffff)
    }

    pub(crate) fn part(&self, rows: Range<usize>) -> TimesPart<'_> {
        TimesPart { low: &self.low[rows.clone()], high: &self.high[rows] }
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.low.shrink_to_fit();
        self.high.shrink_to_fit();
    }
}

impl TimesPart<'_> {
    #[inline]
    pub(crate) fn at(self, row: usize) -> u64 {
        whole(self.low[row], self.high[row])
    }

    /// Spreads the times out, as far as there is room.
    #[inline]
    pub(crate) fn spread(self, to: &mut [u64]) {
        for (to, (&low, &high)) in to.iter_mut().zip(self.low.iter().zip(self.high)) {
            *to = whole(low, high);
        }
    }
}

#[inline]
fn whole(low: u32, high: u16) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_bytes_keep_nine_years() {
        let mut times = Times::default();
        let all = [0, 1, 65_535, u64::from(u32::MAX), 1 << 32, 1 << 40, Elapsed::LAST.0, u64::MAX];
        for (row, time) in all.into_iter().enumerate() {
            times.push(NEVER);
            assert_eq!(times.get(row), None);
            times.set(row, Elapsed(time));
            assert_eq!(times.get(row), Some(Elapsed(time).min(Elapsed::LAST)));
        }
        for time in all {
            let slow = all.iter().position(|&row| row.min(Elapsed::LAST.0) >= time);
            assert_eq!(times.first_from(time.min(NEVER)), slow.unwrap_or(all.len()));
        }
    }
}
