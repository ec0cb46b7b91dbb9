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
//! Both are exact at λ = 1. Words are estimated from *k* rather than from lengths because these
//! sums are those of memtrace's tools, and add up whatever way blocks are grouped.
//!
//! A peak is chosen *with* regard to what was sampled: the highest of many estimates is on average
//! a little too high, by less than its standard error when the curve has one clear top.

use memtrail_trace::{SampleRate, Source, Words};
use serde::Serialize;

use crate::blocks::{Blocks, Row};

/// An estimate and its standard error, in the same unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its estimated standard deviation.
    pub stderr: f64,
}

/// Sums over recorded blocks from which totals are estimated. Sums of disjoint sets add up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// Recorded blocks.
    pub recorded: u64,
    /// Samples in them.
    pub samples: u64,
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
        self.blocks += other.blocks;
        self.blocks_variance += other.blocks_variance;
    }
}

/// Turns samples into totals.
#[derive(Clone, Debug)]
pub struct Estimator {
    rate: f64,
    /// ln(1−λ).
    ln_miss: f64,
    word_bytes: f64,
    /// 1/p for small blocks, by words.
    weights: Vec<f64>,
}

impl Estimator {
    /// For one trace. A rate that is no rate, as a damaged trace may have it, is taken for 1.
    pub fn new(rate: SampleRate, word_bits: u8) -> Self {
        let rate = if rate.0 > 0.0 && rate.0 <= 1.0 { rate.0 } else { 1.0 };
        let mut estimator = Self {
            rate,
            ln_miss: (-rate).ln_1p(),
            word_bytes: if word_bits == 32 { 4.0 } else { 8.0 },
            weights: Vec::new(),
        };
        estimator.weights = (0..1024).map(|words| estimator.weigh(words)).collect();
        estimator
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
    pub fn add(&self, sum: &mut Sum, length: Words, source: Source, samples: u64) -> f64 {
        let weight = self.weight(length, source);
        sum.recorded += 1;
        sum.samples = sum.samples.saturating_add(samples);
        sum.blocks += weight;
        // (1−p)/p² = (1/p − 1)/p
        sum.blocks_variance += (weight - 1.0) * weight;
        weight
    }

    /// Adds a row of the columns to a sum.
    pub fn add_row(&self, sum: &mut Sum, blocks: &Blocks, row: Row) {
        self.add(sum, blocks.length(row), blocks.source(row), blocks.samples(row));
    }

    /// Adds recorded blocks of the same size, but not their samples.
    pub(crate) fn add_alike(&self, sum: &mut Sum, words: Words, recorded: u64) {
        let (weight, count) = (self.weigh(words.0), recorded as f64);
        sum.recorded += recorded;
        sum.blocks += weight * count;
        sum.blocks_variance += (weight - 1.0) * weight * count;
    }

    /// What each block of few words, headers included, stands for.
    pub(crate) fn small(&self) -> &[f64] {
        &self.weights
    }

    /// How many words of a block could be samples: its header is one, if it has one.
    #[inline]
    pub(crate) fn words(length: Words, source: Source) -> Words {
        Words(length.0.saturating_add(u64::from(source != Source::External)))
    }

    /// How many blocks a recorded block stands for: 1/p.
    #[inline]
    pub fn weight(&self, length: Words, source: Source) -> f64 {
        let Words(words) = Self::words(length, source);
        match self.weights.get(words as usize) {
            Some(&weight) => weight,
            None => self.weigh(words),
        }
    }

    fn weigh(&self, words: u64) -> f64 {
        // No block of no words can be recorded, but a damaged trace may hold one.
        let words = words.max(1) as f64;
        // p = 1 − e^(N ln(1−λ)), exact also where p is tiny; at λ = 1 the logarithm is −∞ and p 1.
        -1.0 / (words * self.ln_miss).exp_m1()
    }

    /// Bytes, headers included.
    pub fn bytes(&self, sum: &Sum) -> Estimate {
        self.bytes_of(sum.samples)
    }

    /// Bytes, headers included, from a number of samples.
    pub fn bytes_of(&self, samples: u64) -> Estimate {
        let samples = samples as f64;
        Estimate {
            value: samples * self.bytes_per_sample(),
            stderr: (samples * (1.0 - self.rate)).sqrt() * self.bytes_per_sample(),
        }
    }

    /// Blocks.
    pub fn blocks(&self, sum: &Sum) -> Estimate {
        Estimate { value: sum.blocks, stderr: sum.blocks_variance.max(0.0).sqrt() }
    }
}
