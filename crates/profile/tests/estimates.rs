//! The estimators against the truth: programs that allocate known blocks, sampled as the runtime
//! samples, a thousand times and more, from fixed seeds.

use memtrail_profile::estimate::{Estimate, Estimator, Sum};
use memtrail_trace::{SampleRate, Source, Words};

/// `SplitMix64` (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In (0, 1].
    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

/// Each word is a sample with probability `rate`: the distance to the next one is geometric.
struct Sampler {
    random: Random,
    rate: f64,
    skip: u64,
}

impl Sampler {
    fn new(seed: u64, rate: f64) -> Self {
        let mut sampler = Self { random: Random(seed), rate, skip: 0 };
        sampler.skip = sampler.geometric() - 1;
        sampler
    }

    fn geometric(&mut self) -> u64 {
        if self.rate >= 1.0 {
            return 1;
        }
        (1.0 + (self.random.uniform().ln() / (-self.rate).ln_1p()).floor()) as u64
    }

    /// Samples in the next `words` words.
    fn binomial(&mut self, words: u64) -> u64 {
        let mut samples = 0;
        while self.skip < words {
            samples += 1;
            self.skip += self.geometric();
        }
        self.skip -= words;
        samples
    }
}

/// Estimates against the truth, over many runs.
#[derive(Debug, Default)]
struct Score {
    runs: u32,
    within_3: u32,
    errors: f64,
    squares: f64,
    claimed: f64,
}

impl Score {
    fn note(&mut self, estimate: Estimate, truth: f64) {
        let error = estimate.value - truth;
        self.runs += 1;
        self.within_3 += u32::from(error.abs() <= 3.0 * estimate.stderr);
        self.errors += error;
        self.squares += error * error;
        self.claimed += estimate.stderr * estimate.stderr;
    }

    fn check(&self, what: &str) {
        self.check_with(what, 0.99, 0.0);
    }

    /// So many runs are within three standard errors, which may be larger than needed.
    fn check_with(&self, what: &str, share: f64, more: f64) {
        let runs = f64::from(self.runs);
        let (mean, variance) = (self.errors / runs, self.squares / runs);
        // Mean error in units of its own standard error.
        let z = mean / (variance / runs).sqrt();
        assert!(z.abs() < 3.5, "{what}: biased, mean error {mean}, z = {z}");
        assert!(f64::from(self.within_3) >= share * runs, "{what}: {} of {runs}", self.within_3);
        // The claimed variance is right on average: the spread of a variance over n runs is √(2/n).
        let ratio = self.claimed / runs / variance;
        let spread = 5.0 * (2.0 / runs).sqrt();
        assert!((1.0 - spread..1.0 + spread + more).contains(&ratio), "{what}: variance × {ratio}");
    }
}

fn simulate(name: &str, rate: f64, blocks: &[(u64, u64)], runs: u32, source: Source) {
    let header = u64::from(source != Source::External);
    let estimator = Estimator::new(SampleRate(rate), 64);
    let words: u64 = blocks.iter().map(|&(length, count)| (length + header) * count).sum();
    let count: u64 = blocks.iter().map(|&(_, count)| count).sum();
    let (mut of_bytes, mut of_blocks) = (Score::default(), Score::default());
    let mut sampler = Sampler::new(0x5EED ^ words ^ count << 32, rate);
    for _ in 0..runs {
        let mut sum = Sum::default();
        for &(length, count) in blocks {
            for _ in 0..count {
                let samples = sampler.binomial(length + header);
                if samples > 0 {
                    estimator.add(&mut sum, Words(length), source, samples, 0);
                }
            }
        }
        of_bytes.note(estimator.bytes(&sum), 8.0 * words as f64);
        of_blocks.note(estimator.blocks(&sum), count as f64);
    }
    of_bytes.check(&format!("bytes of {name}"));
    of_blocks.check(&format!("blocks of {name}"));
}

#[test]
fn no_block_size_is_favoured() {
    for (length, count, rate) in
        [(1, 20_000, 1e-2), (10, 5_000, 1e-2), (100, 500, 1e-2), (1_000, 1_000, 1e-3)]
    {
        simulate(&format!("blocks of {length}"), rate, &[(length, count)], 2_000, Source::Minor);
    }
    // Two recorded blocks of three and the samples of one differ by far: where bias would show.
    simulate("blocks of 10,000", 1e-4, &[(10_000, 300)], 2_000, Source::Major);
    simulate("blocks of 100,000", 1e-5, &[(100_000, 300)], 2_000, Source::Major);
}

#[test]
fn mixed_sizes_from_1_to_100_000_words() {
    let mixed = [(1, 20_000), (3, 5_000), (30, 1_000), (1_000, 50), (100_000, 1)];
    simulate("a mixed heap", 1e-3, &mixed, 1_500, Source::Minor);
}

#[test]
fn memory_outside_the_heap_has_no_header() {
    simulate("bigarrays of one word", 1e-2, &[(1, 20_000)], 1_500, Source::External);
}

/// With the root of the number of samples alone, of draws with a mean of 4.5 one in 25 was too far off.
#[test]
fn bytes_of_few_samples_are_within_three_standard_errors() {
    let rate = 1e-3;
    let estimator = Estimator::new(SampleRate(rate), 64);
    let mut sampler = Sampler::new(7, rate);
    for words in [100_u32, 500, 1_000, 2_000, 3_000, 4_500, 6_000, 8_000, 10_000, 15_000, 30_000] {
        let (mut of_few, mut plain) = (Score::default(), Score::default());
        for _ in 0..4_000 {
            let mut sum = Sum::default();
            for _ in 0..words / 50 {
                let samples = sampler.binomial(50);
                if samples > 0 {
                    estimator.add(&mut sum, Words(49), Source::Minor, samples, 0);
                }
            }
            // Without any there is no estimate.
            if sum.samples > 0 {
                of_few.note(estimator.bytes_of_few(&sum), 8.0 * f64::from(words));
                plain.note(estimator.bytes(&sum), 8.0 * f64::from(words));
            }
        }
        let share = |score: &Score| f64::from(score.within_3) / f64::from(score.runs);
        assert!(share(&of_few) >= 0.99, "{words} words: {}", share(&of_few));
        assert!(words != 4_500 || share(&plain) < 0.97, "{}", share(&plain));
    }
}

#[test]
fn at_rate_one_everything_is_exact() {
    let estimator = Estimator::new(SampleRate(1.0), 64);
    let mut sum = Sum::default();
    for length in [0, 1, 99_999] {
        estimator.add(&mut sum, Words(length), Source::Minor, length + 1, 0);
    }
    assert_eq!(estimator.bytes(&sum), Estimate { value: 800_024.0, stderr: 0.0 });
    assert_eq!(estimator.blocks(&sum), Estimate { value: 3.0, stderr: 0.0 });
}

#[test]
fn rates_that_are_none_do_not_poison_the_sums() {
    for rate in [0.0, -1.0, 7.0, f64::NAN, f64::INFINITY] {
        let estimator = Estimator::new(SampleRate(rate), 64);
        let mut sum = Sum::default();
        estimator.add(&mut sum, Words(u64::MAX), Source::Minor, u64::MAX, 0);
        estimator.add(&mut sum, Words(0), Source::External, u64::MAX, 0);
        assert!(estimator.bytes(&sum).value.is_finite());
        assert!(estimator.blocks(&sum).stderr.is_finite());
    }
}

/// Of estimates from few blocks, more than 92 % are within two standard errors of the truth. Those
/// from no block are not shown by anyone.
#[test]
fn counts_of_few_blocks_have_standard_errors_that_are_large_enough() {
    const RATE: f64 = 1e-3;
    let estimator = Estimator::new(SampleRate(RATE), 64);
    let mut sampler = Sampler::new(0xFE3, RATE);
    // Recorded blocks on average, and their sizes; the last are two sizes at once.
    let sizes: [&[u64]; 4] = [&[3], &[30], &[2_000], &[10, 20]];
    for sizes in sizes {
        for expected in [2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 30.0] {
            let p = |length: u64| 1.0 - (1.0 - RATE).powi(length as i32 + 1);
            let each = |length| (expected / sizes.len() as f64 / p(length)).round() as u64;
            let truth: u64 = sizes.iter().map(|&length| each(length)).sum();
            let (mut runs, mut within) = (0.0, 0.0);
            for _ in 0..2_000 {
                let mut sum = Sum::default();
                for &length in sizes {
                    for _ in 0..each(length) {
                        let samples = sampler.binomial(length + 1);
                        if samples > 0 {
                            estimator.add(&mut sum, Words(length), Source::Minor, samples, 0);
                        }
                    }
                }
                if sum.recorded > 0 {
                    let found = estimator.blocks(&sum);
                    runs += 1.0;
                    let error = (found.value - truth as f64).abs();
                    within += f64::from(u8::from(error <= 2.0 * found.stderr));
                }
            }
            let coverage: f64 = within / runs;
            assert!(coverage > 0.92, "{expected} blocks of {sizes:?}: {:.1} %", 100.0 * coverage);
        }
    }
}

/// Blocks that are sampled at a halved rate count for more: sums stay right, and their errors too.
#[test]
fn a_rate_that_changes_on_the_way_is_not_favoured_either() {
    const RATE: f64 = 1e-2;
    let estimator = Estimator::new(SampleRate(RATE), 64);
    let mut samplers: Vec<_> =
        (0..5_u32).map(|k| Sampler::new(u64::from(k) + 77, RATE / f64::from(1 << k))).collect();
    let mut choice = Random(5);
    let (mut of_bytes, mut of_blocks) = (Score::default(), Score::default());
    let lengths = [1, 4, 30, 700];
    for _ in 0..800 {
        let mut sum = Sum::default();
        let (mut blocks, mut words, mut halvings) = (0_u64, 0_u64, 0_usize);
        for at in 0..20_000 {
            // Of what was sampled before, as the agent does it.
            if sum.recorded % 20 == 19 || at % 1_000 == 0 {
                halvings = choice.next() as usize % samplers.len();
            }
            let length = lengths[at % 37 % lengths.len()];
            blocks += 1;
            words += length + 1;
            let samples = samplers[halvings].binomial(length + 1) << halvings;
            if samples > 0 {
                estimator.add(&mut sum, Words(length), Source::Minor, samples, halvings as u8);
            }
        }
        of_bytes.note(estimator.bytes(&sum), 8.0 * words as f64);
        of_blocks.note(estimator.blocks(&sum), blocks as f64);
    }
    // Some samples count sixteen: the sums are skewed.
    of_bytes.check_with("bytes at changing rates", 0.98, 0.0);
    of_blocks.check_with("blocks at changing rates", 0.97, 0.4);
}
