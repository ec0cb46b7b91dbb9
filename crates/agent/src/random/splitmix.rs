//! Random numbers, and the distances to samples that are drawn with them.

/// `SplitMix64`, the generator that the runtime seeds its own with.
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    /// From one state to the next.
    pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
}

/// Words up to and with the next sampled one, each being sampled at this rate, from a random number.
pub(crate) fn distance(number: u64, rate: f64) -> u64 {
    if rate >= 1.0 {
        return 1;
    }
    // Above 0, at most 1.
    let uniform = ((number >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    // Conversion saturates: for ever, at rates that small.
    ((uniform.ln() / (-rate).ln_1p()) as u64).saturating_add(1).min(1 << 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        let mut numbers = SplitMix(1_234_567);
        let first =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([(); 3].map(|()| numbers.next()), first);
    }

    #[test]
    fn distances_are_geometric() {
        let (rate, count) = (0.01, 100_000);
        let mut numbers = SplitMix(7);
        let sum: u64 = (0..count).map(|_| distance(numbers.next(), rate)).sum();
        let (mean, error) = (sum as f64 / f64::from(count), 100.0 / f64::from(count).sqrt());
        assert!((mean - 100.0).abs() < 4.5 * error, "{mean}");
        assert_eq!(distance(u64::MAX, 1.0), 1);
        assert_eq!(distance(0, 1e-300), 1 << 60, "no overflow");
        assert_eq!(distance(u64::MAX, 1e-9), 1, "at least one word");
    }
}
