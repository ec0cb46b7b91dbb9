//! Draws which bytes of a stream of allocations are sampled.
//!
//! Each byte is sampled with the same probability, independently of all others. Nothing is drawn for
//! bytes that are not sampled: the distance from one sample to the next has a geometric distribution,
//! and is drawn at once. Where a block is so large that many samples are in it, their number is drawn
//! from the binomial distribution instead. As the distribution of distances has no memory, the two
//! can be mixed freely.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng as _, SeedableRng as _};
use rand_distr::{Binomial, Distribution as _};

use crate::rate::Rate;
use crate::units::{Bytes, Samples};

/// Expected samples in one block from which on their number is drawn at once.
const MANY: f64 = 16.0;

/// Draws for one stream of allocations, that of a thread.
#[derive(Clone, Debug)]
pub struct Draws {
    rate: Rate,
    /// The natural logarithm of the probability that a byte is not sampled.
    log_of_rest: f64,
    /// Bytes before the next one that is sampled.
    skip: u64,
    random: Xoshiro256PlusPlus,
}

impl Draws {
    /// A stream; equal seeds sample equal bytes.
    pub fn new(rate: Rate, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let log_of_rest = (-rate.probability()).ln_1p();
        let mut draws = Self { rate, log_of_rest, skip: 0, random };
        draws.skip = draws.distance();
        draws
    }

    /// How many of the next bytes are sampled, those of a block of this size.
    pub fn samples_of(&mut self, size: Bytes) -> Samples {
        if self.rate == Rate::EXACT {
            return Samples(size.0);
        }
        if self.skip >= size.0 {
            self.skip -= size.0;
            return Samples(0);
        }
        let mut samples = 1;
        let mut rest = size.0 - self.skip - 1;
        if rest as f64 * self.rate.probability() > MANY {
            samples += self.many(rest);
            self.skip = self.distance();
            return Samples(samples);
        }
        loop {
            self.skip = self.distance();
            if self.skip >= rest {
                self.skip -= rest;
                return Samples(samples);
            }
            samples += 1;
            rest -= self.skip + 1;
        }
    }

    /// How many of a block's samples are in a part of it, if that is drawn afterwards.
    pub fn samples_of_part(&mut self, samples: Samples, part: Bytes, whole: Bytes) -> Samples {
        let share = (part.0 as f64 / whole.0.max(1) as f64).min(1.0);
        // A share is a probability, so there is always a distribution.
        let own = Binomial::new(samples.0, share).map_or(0, |own| own.sample(&mut self.random));
        Samples(own)
    }

    /// How many bytes can be passed over, none of which is sampled.
    pub fn unsampled(&self) -> Bytes {
        Bytes(self.skip)
    }

    /// Passes over bytes that are not sampled: at most [`unsampled`](Self::unsampled) ones.
    pub fn pass_over(&mut self, bytes: Bytes) {
        self.skip = self.skip.saturating_sub(bytes.0);
    }

    /// How many bytes come before the next sample.
    fn distance(&mut self) -> u64 {
        // In (0, 1], so that the logarithm is finite. At rate 1 the quotient is 0; what is beyond the
        // range becomes its end.
        let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        (uniform.ln() / self.log_of_rest) as u64
    }

    fn many(&mut self, bytes: u64) -> u64 {
        // A rate is a probability, so there is always a distribution.
        Binomial::new(bytes, self.rate.probability())
            .map_or(0, |binomial| binomial.sample(&mut self.random))
    }
}
