//! The draw of how many words of a report are sampled.

use super::draw;
use crate::random::splitmix::SplitMix;

/// Random numbers, with a count of what was taken.
struct Numbers {
    numbers: SplitMix,
    taken: u64,
}

impl Numbers {
    fn new(seed: u64) -> Self {
        Self { numbers: SplitMix(seed), taken: 0 }
    }

    fn next(&mut self) -> u64 {
        self.taken += 1;
        self.numbers.next()
    }
}

/// A terabyte was a loop of 4.5 s, under a lock.
#[test]
fn a_draw_takes_no_longer_for_a_terabyte() {
    let mut numbers = Numbers::new(1);
    for words in [1 << 10, 1 << 37, 1 << 44, u64::MAX >> 3] {
        for probability in [1e-5, 1e-3, 0.3, 0.5, 0.9, 1.0] {
            numbers.taken = 0;
            for _ in 0..100 {
                let drawn = draw(words, probability, &mut || numbers.next());
                let mean = words as f64 * probability;
                let deviation = (mean * (1.0 - probability)).sqrt();
                assert!((drawn as f64 - mean).abs() <= 6.0 * deviation + 8.0, "{drawn} of {mean}");
            }
            assert!(numbers.taken <= 100 * 20, "{} numbers for {words}", numbers.taken);
        }
    }
}

/// Against the distribution itself: mean, variance, and each value (chi squared).
#[test]
fn draws_are_binomially_distributed() {
    const DRAWS: usize = 200_000;
    for (trials, p) in
        [(1, 0.5), (20, 0.3), (30, 0.9), (64, 0.5), (400, 0.05), (1_000, 0.7), (100_000, 2e-4)]
    {
        let mut numbers = Numbers::new(trials ^ 0x2a);
        let mut counts = vec![0_u64; trials as usize + 1];
        for _ in 0..DRAWS {
            counts[draw(trials, p, &mut || numbers.next()) as usize] += 1;
        }
        let n = DRAWS as f64;
        let mean =
            counts.iter().zip(0_u32..).map(|(&c, k)| c as f64 * f64::from(k)).sum::<f64>() / n;
        let (true_mean, true_variance) = (trials as f64 * p, trials as f64 * p * (1.0 - p));
        let error = (true_variance / n).sqrt();
        assert!((mean - true_mean).abs() < 4.5 * error, "mean of {trials}, {p}: {mean}");
        let squares = counts.iter().zip(0_u32..);
        let variance =
            squares.map(|(&c, k)| c as f64 * (f64::from(k) - true_mean).powi(2)).sum::<f64>() / n;
        // The fourth central moment gives the variance's own error.
        let fourth = true_variance * (1.0 + 3.0 * true_variance * (1.0 - 2.0 / trials as f64));
        let error = ((fourth - true_variance.powi(2)).max(0.0) / n).sqrt();
        assert!(
            (variance - true_variance).abs() < 4.5 * error + 1e-9 * true_variance + 1e-3,
            "variance of {trials}, {p}: {variance}, not {true_variance}"
        );
        // ln of the probability of k, by recurrence.
        let (mut log, mut cells, mut chi) = (trials as f64 * (1.0 - p).ln(), 0, 0.0);
        let (mut rest_expected, mut rest_seen) = (0.0, 0.0);
        for (k, &count) in counts.iter().enumerate() {
            let expected = n * log.exp();
            if expected >= 10.0 {
                chi += (count as f64 - expected).powi(2) / expected;
                cells += 1;
            } else {
                (rest_expected, rest_seen) = (rest_expected + expected, rest_seen + count as f64);
            }
            log += ((trials - k as u64) as f64 / (k as f64 + 1.0) * p / (1.0 - p)).ln();
        }
        if rest_expected >= 5.0 {
            chi += (rest_seen - rest_expected).powi(2) / rest_expected;
            cells += 1;
        }
        let freedom = f64::from(cells - 1).max(1.0);
        assert!(
            chi < freedom + 4.5 * (2.0 * freedom).sqrt() + 10.0,
            "{trials}, {p}: chi squared {chi:.1} of {freedom}"
        );
    }
}
