//! Memory outside the heap that the program reports: sampled as the runtime samples its own.
//!
//! Each word is sampled with the recording's rate. Small reports are counted by the words to the next
//! sample, which have a geometric distribution: most cost a subtraction. How many words of a large one
//! are sampled is drawn at once (`binomial.rs`), so that a terabyte takes no longer than a megabyte.

use memtrail_ocaml::block::Value;
use memtrail_trace::Words;

use crate::os::lock::Lock;
use crate::random::binomial;
use crate::random::splitmix::SplitMix;
use crate::recording::active::active;
use crate::sampling::{rate, switch, write};

/// Keeps the numbers apart from those of the domains' samplers, which have the same seed.
const STREAM: u64 = 0x6578_7465_726e_616c;

/// Reports with fewer expected samples are counted one by one.
const FEW: f64 = 16.0;

struct Sampler {
    numbers: SplitMix,
    /// Words up to and with the next that is sampled.
    ahead: u64,
    /// What they were drawn with.
    rate: f64,
}

/// The lock is held by a thread that is gone only in a fork: nobody waits for it for ever.
static SAMPLER: Lock<Option<Sampler>> = Lock::new(None);

/// The token of memory that was just allocated, if it is sampled.
pub(super) fn alloc(bytes: u64) -> Option<Value> {
    let target = active().filter(|_| switch::is_on())?.files.target;
    let halvings = rate::current(target, target.runtime.state());
    let rate = halvings.of(target.options.rate);
    let words = bytes.div_ceil(8);
    let samples = {
        let mut held = SAMPLER.try_lock_for()?;
        let sampler = held.get_or_insert_with(|| {
            let mut numbers = SplitMix(target.seed ^ STREAM);
            let ahead = binomial::gap(rate, &mut || numbers.next());
            Sampler { numbers, ahead, rate }
        });
        sampler.take(words, rate)
    };
    if samples == 0 { None } else { write::write_external(Words(words), samples, halvings) }
}

impl Sampler {
    /// How many of the next `words` words are sampled.
    fn take(&mut self, words: u64, rate: f64) -> u64 {
        let mut next = || self.numbers.next();
        if words as f64 * rate >= FEW {
            // Words are sampled independently of each other: what is ahead stays ahead.
            return binomial::draw(words, rate, &mut next);
        }
        if self.rate.to_bits() != rate.to_bits() {
            // The distance under way may be drawn anew at any time: it has no memory.
            (self.rate, self.ahead) = (rate, binomial::gap(rate, &mut next));
        }
        let (mut left, mut samples) = (words, 0);
        while self.ahead <= left {
            left -= self.ahead;
            samples += 1;
            self.ahead = binomial::gap(rate, &mut next);
        }
        self.ahead -= left;
        samples
    }
}
