//! Samples declined by chance: where the rate of OCaml 4's sampler cannot be changed.
//!
//! The runtime goes on with the base rate. Of a block's n samples each is kept with probability 1/2^k,
//! so that those kept are what the runtime would have drawn at base/2^k, and count as 2^k each. That
//! is unbiased however k was decided on, as chance decides after it.
//!
//! How many samples a block has is known in the callback. When OCaml code allocates, the runtime calls
//! back at once, before anything else runs: so the callstack is captured there, if a sample is kept,
//! and until then only the place of the block among those allocated at once is. When C code
//! allocates, the callback comes later, and the callstack has to be captured before.

use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

use crate::context::halvings::Halvings;
use crate::random::binomial;

/// Samples up to which each is decided on by itself.
const FEW: u64 = 16;
/// There is no block whose callstack is to be captured in the callback.
const NO_BLOCK: isize = -1;

/// Which of the blocks allocated at once is the one whose callback comes next. Both are under the
/// runtime's lock.
static DEFERRED: AtomicIsize = AtomicIsize::new(NO_BLOCK);

/// Leaves the capture of a callstack to the callback, if that follows at once.
#[inline]
pub(super) fn defer(index: isize) -> bool {
    DEFERRED.store(index.max(NO_BLOCK), Relaxed);
    index > NO_BLOCK
}

/// In the callback: the block's place among those allocated at once, if its callstack was left to it.
pub(super) fn take_deferred() -> Option<isize> {
    let index = DEFERRED.load(Relaxed);
    DEFERRED.store(NO_BLOCK, Relaxed);
    (index > NO_BLOCK).then_some(index)
}

/// How many of a block's samples are kept.
pub(super) fn keep(samples: u64, halvings: Halvings, mut number: impl FnMut() -> u64) -> u64 {
    let weight = halvings.weight();
    if weight == 1 {
        samples
    } else if samples <= FEW {
        (0..samples).map(|_| u64::from(number().is_multiple_of(weight))).sum()
    } else {
        binomial::draw(samples, 1.0 / weight as f64, &mut number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::splitmix::SplitMix;

    #[test]
    fn as_many_samples_are_kept_as_the_rate_says() {
        const ROUNDS: u64 = 20_000;
        let mut numbers = SplitMix(3);
        for samples in [1, 2, FEW, FEW + 1, 1_000] {
            for halvings in [Halvings(0), Halvings(1), Halvings(4), Halvings(7)] {
                let kept: u64 =
                    (0..ROUNDS).map(|_| keep(samples, halvings, || numbers.next())).sum();
                let p = 1.0 / halvings.weight() as f64;
                let trials = (ROUNDS * samples) as f64;
                let error = (trials * p * (1.0 - p)).sqrt();
                let difference = (kept as f64 - trials * p).abs();
                assert!(
                    difference <= 4.5 * error,
                    "{samples}, {halvings:?}: {difference}, {error}"
                );
            }
        }
    }
}
