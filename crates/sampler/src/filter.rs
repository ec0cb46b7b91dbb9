//! Keeps deallocations of blocks that are not tracked away from the table.
//!
//! A counter for each group of addresses, of the tracked blocks among them. One load decides for almost
//! all deallocations: with 650 tracked blocks, 1 in 100 goes on to the table.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::hash::{FILTER_BITS, Hash};

const ENTRIES: usize = 1 << FILTER_BITS;
const WORDS: usize = ENTRIES / u64::BITS as usize;

/// The counters, and of each in a bit whether it is more than 0: these fit a processor's nearest cache.
pub(crate) struct Filter {
    is_there: [AtomicU64; WORDS],
    /// One that reached its greatest value stays there.
    counts: [AtomicU8; ENTRIES],
}

impl Filter {
    #[expect(clippy::large_stack_arrays, reason = "evaluated at compile time, for a static")]
    pub(crate) const fn new() -> Self {
        Self {
            is_there: [const { AtomicU64::new(0) }; WORDS],
            counts: [const { AtomicU8::new(0) }; ENTRIES],
        }
    }

    /// Whether a block with this hash may be tracked.
    #[inline]
    pub(crate) fn may_contain(&self, hash: Hash) -> bool {
        let entry = hash.filter_entry();
        self.is_there[entry / u64::BITS as usize].load(Relaxed) >> (entry % u64::BITS as usize) & 1
            != 0
    }

    /// Counts a block. The shard's lock is held: no one else changes this counter, nor the bits beside its own.
    pub(crate) fn add(&self, hash: Hash) {
        let count = &self.counts[hash.filter_entry()];
        count.store(count.load(Relaxed).saturating_add(1), Relaxed);
        let (bits, own) = self.bit(hash);
        bits.store(bits.load(Relaxed) | own, Relaxed);
    }

    /// Undoes [`add`](Self::add), with the same lock held.
    pub(crate) fn subtract(&self, hash: Hash) {
        let entry = &self.counts[hash.filter_entry()];
        match entry.load(Relaxed) {
            0 | u8::MAX => {}
            count => {
                entry.store(count - 1, Relaxed);
                if count == 1 {
                    let (bits, own) = self.bit(hash);
                    bits.store(bits.load(Relaxed) & !own, Relaxed);
                }
            }
        }
    }

    /// The bit of a hash, and the word that it is in, which are of one shard.
    fn bit(&self, hash: Hash) -> (&AtomicU64, u64) {
        let entry = hash.filter_entry();
        (&self.is_there[entry / u64::BITS as usize], 1 << (entry % u64::BITS as usize))
    }
}
