//! Retained sizes: what each block and each holder keeps alive by itself, itself counted.

use std::io;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::bits::{Bits, Ranked};
use super::column::{Column, Place, settled};
use super::pieces::in_pieces;
use super::sweep::sweep_sizes;
use super::{Failed, NONE};
use crate::read::Snapshot;
use crate::units::Words;

/// Sizes that do not fit into 32 bits, by block.
pub(crate) type Large = HashMap<u32, u64, FxBuildHasher>;

/// Retained sizes of all blocks.
///
/// About half the blocks dominate nothing: what they retain is their own size, which the snapshot
/// has, so that only those that are larger than a few words are kept here too.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    /// Blocks whose size is kept.
    pub(crate) kept: Ranked,
    /// Their sizes in words; [`NONE`] for those that do not fit.
    pub(crate) words: Column<u32>,
    /// Sizes that do not fit, by block.
    pub(crate) large: Large,
}

impl Sizes {
    /// The retained size of a block, if it is kept here: otherwise it is the block's own.
    #[inline]
    pub(crate) fn get(&self, block: u32) -> Option<Words> {
        if !self.kept.contains(block) {
            return None;
        }
        Some(Words(match self.words[self.kept.rank(block) as usize] {
            NONE => self.large.get(&block).copied().unwrap_or(0),
            words => u64::from(words),
        }))
    }
}

/// Sums up what every block and every holder retains. Holders follow the blocks in `dominators`;
/// each must come after the one above it. Sizes of `large` blocks are kept whatever they dominate.
///
/// # Errors
/// If a section of the snapshot is damaged, or there is no room.
pub(crate) fn retained(
    place: &Place,
    snapshot: &Snapshot<'_>,
    dominators: &[u32],
    holders: &[u32],
    large: &[u32],
    threads: usize,
) -> Result<(Sizes, Vec<u64>), Failed> {
    let blocks = dominators.len() as u32;
    let inner: Vec<AtomicU64> =
        (0..dominators.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
    let keep = |block: u32| {
        let (word, bit) = (&inner[block as usize / 64], 1 << (block % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    };
    in_pieces(dominators.len(), threads, |range| {
        let mut last = NONE;
        for above in &dominators[range] {
            if *above < blocks && *above != last {
                last = *above;
                keep(last);
            }
        }
    });
    large.iter().copied().for_each(keep);
    let kept = Bits::from_words(inner.into_iter().map(AtomicU64::into_inner).collect());
    // What each waits for: its children and itself.
    let sums = Sums::new(place, Ranked::new(kept), 1, holders.len())?;
    in_pieces(dominators.len(), threads, |range| {
        for above in &dominators[range] {
            if *above < blocks {
                sums.wait_for_more(*above);
            }
        }
    });
    sweep_sizes(snapshot, threads, |columns| {
        for (block, size) in columns.sizes() {
            sums.give(dominators, block.0, size.0);
        }
    })?;
    Ok(sums.finish(holders))
}

/// Sums of what blocks and holders dominate, while threads add to them.
pub(super) struct Sums {
    kept: Ranked,
    /// As in [`Sizes`].
    words: Column<AtomicU32>,
    large: Mutex<Large>,
    waits: Waits,
    held: Vec<AtomicU64>,
}

impl Sums {
    /// Sums for the blocks in `kept`, each of which waits for `parts`.
    ///
    /// # Errors
    /// If there is no room for them.
    pub(super) fn new(place: &Place, kept: Ranked, parts: u8, holders: usize) -> io::Result<Self> {
        let count = kept.len();
        Ok(Self {
            kept,
            words: place.column(count, || AtomicU32::new(0))?,
            large: Mutex::default(),
            waits: Waits {
                few: place.column(count, || AtomicU8::new(parts))?,
                many: Mutex::default(),
            },
            held: (0..holders).map(|_| AtomicU64::new(0)).collect(),
        })
    }

    /// One part more for a block to wait for.
    #[inline]
    pub(super) fn wait_for_more(&self, block: u32) {
        self.waits.more(self.kept.rank(block));
    }

    /// Adds a part. A block that is complete is handed to the one above, which may complete that.
    #[inline]
    pub(super) fn give(&self, dominators: &[u32], block: u32, part: u64) {
        let (mut at, mut part) = (block, part);
        let blocks = dominators.len() as u32;
        loop {
            if self.kept.contains(at) {
                let rank = self.kept.rank(at);
                self.add(at, rank, part);
                if !self.waits.less(rank) {
                    return;
                }
                part = match self.words[rank as usize].load(Ordering::Relaxed) {
                    NONE => locked(&self.large).get(&at).copied().unwrap_or(0),
                    words => u64::from(words),
                };
            }
            match dominators[at as usize] {
                NONE => return,
                above if above >= blocks => {
                    // Sums of bytes that a damaged file claims may be too large for any number.
                    let _ = self.held[(above - blocks) as usize].fetch_update(
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                        |held| Some(held.saturating_add(part)),
                    );
                    return;
                }
                above => at = above,
            }
        }
    }

    fn add(&self, block: u32, rank: u32, part: u64) {
        let words = &self.words[rank as usize];
        let mut before = words.load(Ordering::Relaxed);
        while before != NONE {
            let sum = u64::from(before).saturating_add(part);
            if sum >= u64::from(NONE) {
                break;
            }
            match words.compare_exchange_weak(
                before,
                sum as u32,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
        let mut large = locked(&self.large);
        // What was there until now moves over with the first that does not fit.
        let before = match words.swap(NONE, Ordering::Relaxed) {
            NONE => 0,
            before => u64::from(before),
        };
        let sum = large.entry(block).or_insert(0);
        *sum = sum.saturating_add(before).saturating_add(part);
    }

    /// The sums, all parts given. `above` has for each holder the one above it, which comes before.
    pub(super) fn finish(self, above: &[u32]) -> (Sizes, Vec<u64>) {
        let mut held: Vec<u64> = self.held.into_iter().map(AtomicU64::into_inner).collect();
        for holder in (1..above.len()).rev() {
            let into = above[holder] as usize;
            if into < holder {
                held[into] = held[into].saturating_add(held[holder]);
            }
        }
        let large = self.large.into_inner().unwrap_or_else(PoisonError::into_inner);
        (Sizes { kept: self.kept, words: settled(self.words), large }, held)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many parts of its sum each block still waits for.
struct Waits {
    /// Few have so many that a byte does not do.
    few: Column<AtomicU8>,
    many: Mutex<HashMap<u32, u64, FxBuildHasher>>,
}

impl Waits {
    #[inline]
    fn more(&self, rank: u32) {
        let more = |few: u8| few.checked_add(1);
        let few = &self.few[rank as usize];
        if few.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            *locked(&self.many).entry(rank).or_insert(0) += 1;
        }
    }

    /// One part less; says whether that was the last. Whoever gives the last sees what all others
    /// have given.
    #[inline]
    fn less(&self, rank: u32) -> bool {
        let few = &self.few[rank as usize];
        if few.load(Ordering::Relaxed) == u8::MAX {
            let mut waits = locked(&self.many);
            if let Some(many) = waits.get_mut(&rank) {
                *many -= 1;
                if *many == 0 {
                    waits.remove(&rank);
                }
                return false;
            }
        }
        few.fetch_sub(1, Ordering::AcqRel) == 1
    }
}
