//! When blocks are allocated against how long they live: the picture that shows a queue falling
//! behind.

use crate::time::Elapsed;

/// Bins of allocation time, at most.
pub const TIMES: usize = 128;
/// Bins of lifetime, at most.
pub const LIFETIMES: usize = 64;

/// Samples by allocation time and lifetime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Density {
    /// Borders of the bins of allocation time: one more than there are bins.
    pub times: Vec<Elapsed>,
    /// Borders of the bins of lifetime, at equal distances of their logarithms. The first bin
    /// also holds what is shorter, so begins at 0.
    pub lifetimes: Vec<Elapsed>,
    /// Samples in blocks that were collected, all lifetimes of the first time first.
    pub samples: Vec<u64>,
    /// Samples in blocks that were never collected, by allocation time.
    pub never: Vec<u64>,
}

/// Finds the bins of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// Allocation times are distinguished by what is left of these bits.
    shift: u32,
    times: usize,
    end: Elapsed,
    /// Upper borders of the bins of lifetimes, the last one left out.
    borders: Vec<u64>,
    /// The bin of the smallest lifetime with so many bits and these next to the highest.
    guesses: Vec<u8>,
}

/// How many bits next to the highest one a guess takes into account.
const FINE: u32 = 4;

impl Grid {
    /// For a trace that ends at `end`.
    pub(crate) fn new(end: Elapsed) -> Self {
        let mut shift = 0;
        while end.0 >> shift >= TIMES as u64 {
            shift += 1;
        }
        let ratio = (end.0.max(2) as f64).powf(1.0 / LIFETIMES as f64);
        let mut borders: Vec<u64> = Vec::new();
        for bin in 1..LIFETIMES as i32 {
            let border = ratio.powi(bin).ceil() as u64;
            // Short traces have fewer bins, as no two borders are the same microsecond.
            if border > borders.last().copied().unwrap_or(0) && border <= end.0 {
                borders.push(border);
            }
        }
        let guesses = (0..65 << FINE).map(|index| bin(&borders, smallest(index)) as u8).collect();
        Self { shift, times: (end.0 >> shift) as usize + 1, end, borders, guesses }
    }

    fn lifetimes(&self) -> usize {
        self.borders.len() + 1
    }

    pub(crate) fn empty(&self) -> Density {
        let time = |bin: usize| Elapsed(((bin as u64) << self.shift).min(self.end.0));
        let borders = self.borders.iter().map(|&border| Elapsed(border));
        let last = self.end.max(Elapsed(self.borders.last().map_or(1, |border| border + 1)));
        Density {
            times: (0..=self.times).map(time).collect(),
            lifetimes: std::iter::once(Elapsed(0)).chain(borders).chain([last]).collect(),
            samples: vec![0; self.times * self.lifetimes()],
            never: vec![0; self.times],
        }
    }

    /// The bin of an allocation time, for [`Density::never`].
    #[inline]
    pub(crate) fn time(&self, born: u64) -> usize {
        ((born >> self.shift) as usize).min(self.times - 1)
    }

    /// The cell of a block in [`Density::samples`].
    #[inline]
    pub(crate) fn cell(&self, born: u64, lifetime: u64) -> usize {
        self.time(born) * self.lifetimes() + self.lifetime(lifetime)
    }

    #[inline]
    fn lifetime(&self, lifetime: u64) -> usize {
        let mut bin = usize::from(self.guesses[index(lifetime)]);
        while self.borders.get(bin).is_some_and(|&border| border <= lifetime) {
            bin += 1;
        }
        bin
    }
}

/// How many borders are at or below a lifetime.
fn bin(borders: &[u64], lifetime: u64) -> usize {
    borders.partition_point(|&border| border <= lifetime)
}

/// A number's bits, counted, and the [`FINE`] ones below the highest.
#[inline]
fn index(number: u64) -> usize {
    let bits = 64 - number.leading_zeros();
    let below = if bits > FINE { number >> (bits - 1 - FINE) } else { number << (FINE + 1 - bits) };
    (bits << FINE) as usize | below as usize & ((1 << FINE) - 1)
}

/// The smallest number with this [`index`].
fn smallest(index: usize) -> u64 {
    let (bits, below) = (index as u32 >> FINE, index as u64 & ((1 << FINE) - 1));
    if bits == 0 {
        return 0;
    }
    let mantissa = u128::from(1_u64 << FINE | below) << (bits - 1);
    u64::try_from(mantissa >> FINE).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_block_is_between_its_borders(
            end in prop_oneof![0..200_u64, 0..1_u64 << 47],
            born in 0.0..=1.0_f64,
            part in 0.0..=1.0_f64,
            exponent in 0.0..1.0_f64,
        ) {
            let grid = Grid::new(Elapsed(end));
            let density = grid.empty();
            prop_assert!(density.never.len() <= TIMES && density.lifetimes.len() <= LIFETIMES + 1);
            prop_assert!(density.times.is_sorted());
            prop_assert!(density.lifetimes.windows(2).all(|pair| pair[0] < pair[1]));

            let born = (born * end as f64) as u64;
            let longest = (end - born.min(end)) as f64;
            for lifetime in [(longest * part) as u64, longest.powf(exponent) as u64] {
                let cell = grid.cell(born, lifetime);
                let lifetimes = density.lifetimes.len() - 1;
                let (time, bin) = (cell / lifetimes, cell % lifetimes);
                prop_assert!(density.times[time].0 <= born);
                prop_assert!(born < density.times[time + 1].0 || time + 1 == density.never.len());
                prop_assert!(density.lifetimes[bin].0 <= lifetime);
                prop_assert!(lifetime < density.lifetimes[bin + 1].0 || bin + 1 == lifetimes);
            }
        }

        #[test]
        fn guesses_are_never_too_high(number in any::<u64>(), shift in 0..64_u32) {
            let number = number >> shift;
            prop_assert!(smallest(index(number)) <= number);
            prop_assert_eq!(index(smallest(index(number))), index(number));
        }
    }
}
