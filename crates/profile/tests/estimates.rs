//! The estimators against the truth: programs that allocate known blocks, sampled as the runtime
//! samples, a thousand times and more, from fixed seeds.

use memtrail_profile::estimate::{Estimate, Estimator, Sum};
use memtrail_trace::{SampleRate, Source, Words};

/// `SplitMix64` (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In (0, 1].
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

/// Each word is a sample with probability `rate`: the distance to the next one is geometric.
pub(crate) struct Sampler {
    pub(crate) random: Random,
    rate: f64,
    skip: u64,
}

impl Sampler {
    pub(crate) fn new(seed: u64, rate: f64) -> Self {
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
    pub(crate) fn binomial(&mut self, words: u64) -> u64 {
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
pub(crate) struct Score {
    runs: u32,
    within_3: u32,
    errors: f64,
    squares: f64,
    claimed: f64,
}

impl Score {
    pub(crate) fn note(&mut self, estimate: Estimate, truth: f64) {
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
    pub(crate) fn check_with(&self, what: &str, share: f64, more: f64) {
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

/// Twice the standard error around an estimate held 73 to 93 of 100 true figures where 3 to 10 blocks were sampled.
#[test]
fn ranges_of_few_samples_hold_the_truth_19_times_out_of_20() {
    let rate = 1e-3;
    let estimator = Estimator::new(SampleRate(rate), 64);
    let mut sampler = Sampler::new(7, rate);
    // A constant rate, and blocks of which every second is sampled at a quarter of it.
    for halvings in [0_u8, 2] {
        let mut lower = Sampler::new(11, rate / f64::from(1 << halvings));
        for expected in 1_u32..=20 {
            let (mut of_bytes, mut plain, mut of_blocks) = (0.0, 0.0, 0.0);
            let (runs, count) = (3_000, expected * 20);
            for _ in 0..runs {
                let mut sum = Sum::default();
                for at in 0..count {
                    let (sampler, halvings) =
                        if at % 2 == 0 { (&mut sampler, 0) } else { (&mut lower, halvings) };
                    let samples = sampler.binomial(50) << halvings;
                    if samples > 0 {
                        estimator.add(&mut sum, Words(49), Source::Minor, samples, halvings);
                    }
                }
                let held = |estimate: Estimate, truth: f64| {
                    let range = estimate.range();
                    f64::from(u8::from(range.low <= truth && truth <= range.high))
                };
                let (truth, bytes) = (f64::from(count) * 400.0, estimator.bytes(&sum));
                let none = sum.samples == 0;
                // Where nothing was sampled, there is an upper bound.
                let unit = estimator.bytes_per_sample() * f64::from(1 << halvings);
                let unseen = f64::from(u8::from(truth <= memtrail_stats::unseen(unit)));
                of_bytes += if none { unseen } else { held(bytes, truth) };
                of_blocks +=
                    if none { unseen } else { held(estimator.blocks(&sum), f64::from(count)) };
                plain += f64::from(u8::from((bytes.value - truth).abs() <= 2.0 * bytes.stderr));
            }
            let runs = f64::from(runs);
            let what = format!("{expected} samples, {halvings} halvings");
            // A sample of four times the weight that was not drawn does not show in the others.
            let least = if halvings == 0 { 0.945 } else { 0.86 };
            assert!(of_bytes / runs > least, "{what}: {:.3} of bytes", of_bytes / runs);
            assert!(of_blocks / runs > least, "{what}: {:.3} of blocks", of_blocks / runs);
            assert!(expected > 4 || plain / runs < 0.93, "{what}: {:.3} plainly", plain / runs);
        }
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
