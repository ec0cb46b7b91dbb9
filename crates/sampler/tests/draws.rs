//! The draws against exact totals, exact distributions, and a slow oracle that draws for each byte.
//!
//! All seeds are given, so that a test that passes once passes always.

use memtrail_sampler::draw::Draws;
use memtrail_sampler::{Bytes, Rate};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};

const GIB: u64 = 1 << 30;

/// Draws for each byte by itself.
struct Oracle {
    probability: f64,
    random: Xoshiro256PlusPlus,
}

impl Oracle {
    fn samples_of(&mut self, size: u64) -> u64 {
        (0..size).filter(|_| self.random.random_bool(self.probability)).count() as u64
    }
}

/// The probabilities of 0, 1, … successes of `n` trials.
fn binomial(n: u64, p: f64) -> Vec<f64> {
    let mut terms = vec![(n as f64 * (-p).ln_1p()).exp()];
    for k in 1..=n {
        let last = terms[k as usize - 1];
        let next = last * (n - k + 1) as f64 / k as f64 * p / (1.0 - p);
        if next < 1e-12 && k as f64 > n as f64 * p {
            break;
        }
        terms.push(next);
    }
    terms
}

/// Pearson's statistic in standard deviations above its mean, with cells joined that expect few.
fn chi_squared(counts: &[u64], expected: &[f64]) -> f64 {
    let (mut statistic, mut cells) = (0.0, 0.0);
    let (mut count, mut expect) = (0.0, 0.0);
    let mut last = 0.0;
    for at in 0..counts.len().max(expected.len()) {
        count += counts.get(at).copied().unwrap_or(0) as f64;
        expect += expected.get(at).copied().unwrap_or(0.0);
        if expect >= 10.0 {
            statistic += (count - expect) * (count - expect) / expect;
            cells += 1.0;
            (count, expect, last) = (0.0, 0.0, expect);
        }
    }
    // What is left is compared with a cell's standard deviation.
    statistic += (count - expect) * (count - expect) / expect.max(last).max(10.0);
    let freedom: f64 = f64::max(cells - 1.0, 1.0);
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn the_samples_of_a_block_have_a_binomial_distribution() {
    for (size, probability) in [
        (1, 0.3),
        (7, 0.5),
        (64, 0.01),
        (1000, 0.001),
        (1000, 0.2), // many at once
        (100_000, 1e-3),
        (GIB, 1.0 / (GIB as f64)),
        (GIB, 1e-7),
    ] {
        let rate = Rate::per_byte(probability).unwrap();
        let mut draws = Draws::new(rate, 42);
        let rounds = 20_000;
        let expected: Vec<f64> =
            binomial(size, probability).iter().map(|p| p * f64::from(rounds)).collect();
        let mut counts = vec![0; expected.len() + 200];
        for _ in 0..rounds {
            counts[draws.samples_of(Bytes(size)).0 as usize] += 1;
        }
        let deviations = chi_squared(&counts, &expected);
        assert!(deviations < 5.0, "{size} bytes at {probability}: {deviations}");
    }
}

#[test]
fn a_thousand_runs_are_unbiased_and_have_the_variance_that_is_reported() {
    let sizes = |random: &mut Xoshiro256PlusPlus| -> Vec<u64> {
        (0..300)
            .map(|n| match n % 100 {
                0 => random.random_range(1 << 20..1 << 24),
                99 => GIB,
                _ => random.random_range(1..5000),
            })
            .collect()
    };
    for rate in [1e-8, 2e-6, 1e-3, 0.5].map(|rate| Rate::per_byte(rate).unwrap()) {
        let (mut sum, mut squares, mut reported) = (0.0, 0.0, 0.0);
        let runs = 1000;
        for seed in 0..runs {
            let sizes = sizes(&mut Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xABCD));
            let total: u64 = sizes.iter().sum();
            let mut draws = Draws::new(rate, seed);
            let samples = sizes.iter().map(|&size| draws.samples_of(Bytes(size)).0).sum();
            let estimate = rate.estimate(memtrail_sampler::Samples(samples));
            let p = rate.probability();
            let variance = total as f64 * (1.0 - p) / p;
            let z = (estimate.bytes - total as f64) / variance.sqrt();
            sum += z;
            squares += z * z;
            reported += estimate.variance / variance;
        }
        let runs = runs as f64;
        assert!((sum / runs.sqrt()).abs() < 4.0, "{rate:?}: biased by {sum}");
        let chi = (squares - runs) / (2.0 * runs).sqrt();
        assert!(chi.abs() < 4.0, "{rate:?}: chi-squared off by {chi} deviations");
        assert!((reported / runs - 1.0).abs() < 0.05, "{rate:?}: variance {reported}");
    }
}

#[test]
fn blocks_of_every_size_are_drawn_as_byte_by_byte() {
    let probability = 0.01;
    let sizes: Vec<u64> = (0..40).map(|n| 1 + n * n * 3).collect();
    let rounds = 400;
    let mut oracle = Oracle { probability, random: Xoshiro256PlusPlus::seed_from_u64(1) };
    let mut draws = Draws::new(Rate::per_byte(probability).unwrap(), 2);
    let mut sums = vec![(0.0, 0.0); sizes.len()];
    for _ in 0..rounds {
        for (sum, &size) in sums.iter_mut().zip(&sizes) {
            sum.0 += draws.samples_of(Bytes(size)).0 as f64;
            sum.1 += oracle.samples_of(size) as f64;
        }
    }
    for ((fast, slow), size) in sums.into_iter().zip(sizes) {
        let deviation = (2.0 * size as f64 * f64::from(rounds) * probability).sqrt();
        assert!((fast - slow).abs() < 5.0 * deviation, "{size} bytes: {fast}, {slow}");
    }
}

#[test]
fn every_byte_is_sampled_at_rate_1() {
    let mut draws = Draws::new(Rate::EXACT, 3);
    for size in [0, 1, 2, 15, 16, 17, 18, 1000, GIB, u64::from(u32::MAX) * 1000] {
        assert_eq!(draws.samples_of(Bytes(size)).0, size);
    }
}

#[test]
fn passing_over_unsampled_bytes_changes_nothing() {
    let rate = Rate::per_byte(1e-3).unwrap();
    let (mut whole, mut split) = (Draws::new(rate, 4), Draws::new(rate, 4));
    for size in (0..10_000).map(|n| n * 7 % 501) {
        let part = split.unsampled().0.min(size / 2);
        split.pass_over(Bytes(part));
        assert_eq!(split.samples_of(Bytes(size - part)), whole.samples_of(Bytes(size)));
    }
}
