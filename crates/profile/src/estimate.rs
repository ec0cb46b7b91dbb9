//! Totals of all blocks, estimated from the sampled ones, without bias.
//!
//! # What is sampled
//!
//! With λ samples per word, the runtime makes each word of memory that it allocates a sample with
//! probability λ, independently of all others: the number *k* of samples in a block of *N* words
//! is binomial, *k* ~ B(*N*, λ), and only blocks with *k* ≥ 1 are recorded. On the OCaml heap *N*
//! counts the header, so *N* = length + 1 (`caml_memprof_sample_young`, `caml_memprof_sample_block`
//! called by `caml_alloc_shr_…` with `Whsize_wosize`, and `rand_binom` in `runtime/memprof.c` of
//! OCaml 5.3; `caml_memprof_track_alloc_shr` and `rand_binom` of 4.11 to 4.14). Memory outside the
//! heap has no header: *N* = length (`caml_memprof_track_custom`, memtrace's `ext_alloc`).
//!
//! memtrace records a bigarray's memory as if it stood on the heap, with one word too many by this
//! rule; the error is 1/*N* of such a block's weight.
//!
//! # The estimators
//!
//! For a set of blocks that is chosen without regard to what was sampled:
//!
//! | total of | estimator | its variance | estimator of the variance |
//! |---|---|---|---|
//! | words, headers included | Σ *k*/λ | (1−λ)/λ · Σ *N* | (1−λ)/λ² · Σ *k* |
//! | blocks | Σ 1/*p* | Σ (1−*p*)/*p* over **all** blocks | Σ (1−*p*)/*p*² |
//!
//! with *p* = 1 − (1−λ)^*N*, the probability that a block is recorded, and all sums but the marked
//! one over recorded blocks. The mean of a binomial is *N*λ, which makes the first unbiased; its
//! variance is *N*λ(1−λ). The second is the Horvitz-Thompson estimator for independent draws
//! (D. G. Horvitz and D. J. Thompson, *A Generalization of Sampling Without Replacement From a
//! Finite Universe*, JASA 47, 1952), and so is the estimator of its variance.
//!
//! A recording may halve its rate on the way, to λ/w for some blocks. Of these the trace counts *k* = *w n*
//! samples where *n* were taken, so that the first estimator is the same sum; its variance is then
//! (1−λ/w)/λ² · Σ *w k*, and *p* is that of λ/w. The rate depends only on what was sampled before, so
//! all of this stays as it is. Which block has which *w* is told beside the trace
//! ([`RateChanges`](memtrail_trace::rates::RateChanges)); for a bare trace it is taken for 1, and
//! standard errors are too small.
//!
//! With few samples the number of them is far from normal: 19 times out of 20, the truth is within
//! [`Estimate::range`], not within twice the standard error.
//!
//! Both are exact at λ = 1. Words are estimated from *k* rather than from lengths because these
//! sums are those of memtrace's tools, and add up whatever way blocks are grouped.
//!
//! A peak is chosen *with* regard to what was sampled: the highest of many estimates is on average
//! a little too high, by less than its standard error when the curve has one clear top.

pub use memtrail_stats::Estimate;
use memtrail_trace::rates::MAX_HALVINGS;
use memtrail_trace::{SampleRate, Source, Words};
use serde::Serialize;

use crate::blocks::{Blocks, Row};
use crate::selected::Cell;

/// Sums over recorded blocks from which totals are estimated. Sums of disjoint sets add up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// Recorded blocks.
    pub recorded: u64,
    /// Samples in them.
    pub samples: u64,
    /// Samples, each times the number that it stands for beyond itself.
    pub excess: f64,
    /// Σ 1/p.
    blocks: f64,
    /// Σ (1−p)/p².
    blocks_variance: f64,
}

impl Sum {
    /// Adds another set.
    pub fn add(&mut self, other: &Self) {
        self.recorded += other.recorded;
        self.samples += other.samples;
        self.excess += other.excess;
        self.blocks += other.blocks;
        self.blocks_variance += other.blocks_variance;
    }
}

/// Turns samples into totals.
#[derive(Clone, Debug)]
pub struct Estimator {
    rate: f64,
    /// ln(1−λ), of the rate halved so often.
    ln_miss: [f64; RATES],
    word_bytes: f64,
    /// 1/p for small blocks, by words, for each rate.
    weights: Vec<f64>,
    /// How many samples a sample stands for beyond itself, on average over the trace.
    mean_excess: f64,
}

/// How many rates there can be in a recording.
const RATES: usize = MAX_HALVINGS as usize + 1;
/// Blocks of fewer words have their weights computed in advance.
const SMALL: usize = 1024;

impl Estimator {
    /// For one trace. A rate that is no rate, as a damaged trace may have it, is taken for 1.
    pub fn new(rate: SampleRate, word_bits: u8) -> Self {
        let rate = if rate.0 > 0.0 && rate.0 <= 1.0 { rate.0 } else { 1.0 };
        let mut estimator = Self {
            rate,
            ln_miss: std::array::from_fn(|k| (-rate / (1_u64 << k) as f64).ln_1p()),
            word_bytes: if word_bits == 32 { 4.0 } else { 8.0 },
            weights: Vec::new(),
            mean_excess: 0.0,
        };
        let sizes = |k| (0..SMALL as u64).map(move |words| (words, k));
        estimator.weights =
            (0..RATES).flat_map(sizes).map(|(words, k)| estimator.weigh(words, k)).collect();
        estimator
    }

    /// Learns what a sample stands for on average.
    pub(crate) fn learn(&mut self, adapted: Option<&Adapted>) {
        self.mean_excess = adapted.map_or(0.0, |adapted| adapted.mean_excess);
    }

    /// Variance of a number of samples that is not known yet, for each of them: they will stand for as many as the
    /// average over the trace. The error of an estimate is that of its own samples.
    pub fn variance_per_sample(&self) -> f64 {
        1.0 + self.mean_excess - self.rate
    }

    /// Samples per word.
    pub fn rate(&self) -> SampleRate {
        SampleRate(self.rate)
    }

    /// Bytes that one sample stands for.
    pub fn bytes_per_sample(&self) -> f64 {
        self.word_bytes / self.rate
    }

    /// Adds a recorded block to a sum, and says how many blocks it stands for.
    #[inline]
    pub fn add(
        &self,
        sum: &mut Sum,
        length: Words,
        source: Source,
        samples: u64,
        halvings: u8,
    ) -> f64 {
        let weight = self.weight(length, source, halvings);
        sum.recorded += 1;
        sum.samples = sum.samples.saturating_add(samples);
        sum.excess += excess(samples, halvings) as f64;
        sum.blocks += weight;
        // (1−p)/p² = (1/p − 1)/p
        let variance = (weight - 1.0) * weight;
        sum.blocks_variance += variance;
        weight
    }

    /// Adds a row of the columns to a sum.
    pub fn add_row(&self, sum: &mut Sum, blocks: &Blocks, row: Row) {
        let (length, samples) = (blocks.length(row), blocks.samples(row));
        self.add(sum, length, blocks.source(row), samples, blocks.halvings(row));
    }

    /// Adds recorded blocks of the same size, of the trace's own rate, but not their samples.
    pub(crate) fn add_alike(&self, sum: &mut Sum, words: Words, recorded: u64) {
        if recorded == 0 {
            return;
        }
        let (weight, count) = (self.weigh(words.0, 0), recorded as f64);
        let variance = (weight - 1.0) * weight;
        sum.recorded += recorded;
        sum.blocks += weight * count;
        sum.blocks_variance += variance * count;
    }

    /// What each block of few words, headers included, stands for, at the trace's own rate.
    pub(crate) fn small(&self) -> &[f64] {
        &self.weights[..SMALL]
    }

    /// How many words of a block could be samples: its header is one, if it has one.
    #[inline]
    pub(crate) fn words(length: Words, source: Source) -> Words {
        Words(length.0.saturating_add(u64::from(source != Source::External)))
    }

    /// How many blocks a recorded block stands for: 1/p. The trace's rate was halved so often for it.
    #[inline]
    pub fn weight(&self, length: Words, source: Source, halvings: u8) -> f64 {
        let Words(words) = Self::words(length, source);
        let rate = usize::from(halvings).min(RATES - 1);
        if words < SMALL as u64 {
            self.weights[rate * SMALL + words as usize]
        } else {
            self.weigh(words, rate)
        }
    }

    /// Bytes that a recorded block stands for, header included: its own, over the probability that it is recorded. A block that is
    /// large enough to be recorded for sure has its size, where [`bytes`](Self::bytes) counts its samples.
    pub fn bytes_of_block(&self, length: Words, source: Source, halvings: u8) -> f64 {
        let Words(words) = Self::words(length, source);
        words as f64 * self.word_bytes * self.weight(length, source, halvings)
    }

    fn weigh(&self, words: u64, rate: usize) -> f64 {
        // No block of no words can be recorded, but a damaged trace may hold one.
        let words = words.max(1) as f64;
        // p = 1 − e^(N ln(1−λ)), exact also where p is tiny; at λ = 1 the logarithm is −∞ and p 1.
        -1.0 / (words * self.ln_miss[rate]).exp_m1()
    }

    /// Bytes, headers included.
    pub fn bytes(&self, sum: &Sum) -> Estimate {
        self.bytes_of_samples(sum.samples, sum.excess)
    }

    /// Bytes, headers included, of a part of the blocks of a sum: its samples are taken to stand for as many as those
    /// of the sum do on average.
    pub fn bytes_of_part(&self, sum: &Sum, samples: u64) -> Estimate {
        let share = samples as f64 / sum.samples.max(1) as f64;
        self.bytes_of_samples(samples, sum.excess * share)
    }

    /// Bytes, headers included, of samples in a call tree.
    pub fn bytes_of_cell(&self, cell: &Cell) -> Estimate {
        self.bytes_of_samples(cell.samples, cell.excess as f64)
    }

    /// Bytes, headers included, of samples, and of their sum of what each stands for beyond itself ([`excess`]).
    pub fn bytes_of_samples(&self, samples: u64, excess: f64) -> Estimate {
        let samples = samples as f64;
        self.bytes_with(samples, samples * (1.0 - self.rate) + excess)
    }

    /// Bytes, headers included, from a number of samples. Their error is not known: it depends on the rate at which
    /// each was taken.
    pub fn bytes_of(&self, samples: u64) -> f64 {
        samples as f64 * self.bytes_per_sample()
    }

    fn bytes_with(&self, samples: f64, variance: f64) -> Estimate {
        let unit = self.bytes_per_sample();
        Estimate::of_weights(samples * unit, variance * unit * unit)
    }

    /// The number of blocks that a sum stands for.
    pub fn blocks(&self, sum: &Sum) -> Estimate {
        Estimate::of_weights(sum.blocks, sum.blocks_variance)
    }
}

/// Samples at a halved rate, each times the number that it stands for beyond itself.
pub fn excess(samples: u64, halvings: u8) -> u64 {
    let weight = 1_u64 << halvings.min(MAX_HALVINGS);
    samples.saturating_mul(weight - 1)
}

/// How far the rate of a recording was lowered on the way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Adapted {
    /// The lowest rate of any block.
    pub lowest_samples_per_word: f64,
    /// Samples that were taken, by the words that they stand for.
    pub mean_samples_per_word: f64,
    #[serde(skip)]
    mean_excess: f64,
}

impl Adapted {
    /// Of all blocks; `None` if they were sampled at the trace's own rate.
    pub fn of(blocks: &Blocks, rate: SampleRate) -> Option<Self> {
        if !blocks.are_adapted() {
            return None;
        }
        let mut sum = AdaptedSum::default();
        for row in blocks.rows() {
            sum.add(blocks.samples(row), blocks.halvings(row));
        }
        sum.finish(rate)
    }
}

/// What [`Adapted`] is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AdaptedSum {
    samples: f64,
    taken: f64,
    excess: f64,
    lowest: u8,
}

impl AdaptedSum {
    pub(crate) fn add(&mut self, samples: u64, halvings: u8) {
        self.samples += samples as f64;
        self.taken += samples as f64 / (1_u64 << halvings) as f64;
        self.excess += excess(samples, halvings) as f64;
        self.lowest = self.lowest.max(halvings);
    }

    pub(crate) fn finish(&self, rate: SampleRate) -> Option<Adapted> {
        (self.lowest > 0).then(|| Adapted {
            lowest_samples_per_word: rate.0 / (1_u64 << self.lowest) as f64,
            mean_samples_per_word: rate.0 * self.taken / self.samples.max(1.0),
            mean_excess: self.excess / self.samples.max(1.0),
        })
    }
}
