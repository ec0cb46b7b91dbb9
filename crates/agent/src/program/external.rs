//! Memory outside the heap that the program reports: sampled as the runtime samples its own.
//!
//! Each word is sampled with the recording's rate, so the words to the next sample have a geometric
//! distribution: one number is drawn a sample, and most reports cost a subtraction.

use memtrail_ocaml::block::Value;
use memtrail_trace::Words;

use crate::lock::Lock;
use crate::recorder::active;
use crate::sampling;
use crate::seeding::SplitMix;

/// Keeps the numbers apart from those of the domains' samplers, which have the same seed.
const STREAM: u64 = 0x6578_7465_726e_616c;

struct Sampler {
    numbers: SplitMix,
    /// Words up to and with the next that is sampled.
    ahead: u64,
}

/// The lock is held by a thread that is gone only in a fork: nobody waits for it for ever.
static SAMPLER: Lock<Option<Sampler>> = Lock::new(None);

/// The token of memory that was just allocated, if it is sampled.
pub(super) fn alloc(bytes: u64) -> Option<Value> {
    let target = active().filter(|_| sampling::is_on())?.target;
    let rate = target.options.rate;
    let words = bytes.div_ceil(8);
    let samples = {
        let mut held = SAMPLER.lock_soon()?;
        let sampler = held.get_or_insert_with(|| {
            let mut numbers = SplitMix(target.seed ^ STREAM);
            let ahead = gap(&mut numbers, rate);
            Sampler { numbers, ahead }
        });
        sampler.take(words, rate)
    };
    if samples == 0 { None } else { sampling::write_external(Words(words), samples) }
}

impl Sampler {
    /// How many of the next `words` words are sampled.
    fn take(&mut self, words: u64, rate: f64) -> u64 {
        if rate >= 1.0 {
            return words;
        }
        let (mut left, mut samples) = (words, 0);
        while self.ahead <= left {
            left -= self.ahead;
            samples += 1;
            self.ahead = gap(&mut self.numbers, rate);
        }
        self.ahead -= left;
        samples
    }
}

/// Words up to and with the next sampled one, each being sampled with that probability.
fn gap(numbers: &mut SplitMix, rate: f64) -> u64 {
    // Above 0, at most 1.
    let uniform = ((numbers.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    // Conversion saturates: for ever, at rates that small.
    (uniform.ln() / (-rate).ln_1p()) as u64 + 1
}
