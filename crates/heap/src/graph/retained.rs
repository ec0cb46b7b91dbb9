//! Retained sizes: what each block and each root node retains by itself, itself counted.

use std::io;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::bits::{Bits, Ranked};
use super::column::{Column, Place, into_plain};
use super::error::Failed;
use super::nodes::NO_BLOCK;
use super::passes::{in_pieces, sweep};
use crate::read::{Detail, Snapshot};
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
    /// Their sizes in words; [`NO_BLOCK`] for those that do not fit.
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
            NO_BLOCK => self.large.get(&block).copied().unwrap_or(0),
            words => u64::from(words),
        }))
    }
}

/// Sums up what every block and every root node retains. Root nodes follow the blocks in `dominators`;
/// each must come after the one above it. Sizes of `large` blocks are kept whatever they dominate.
///
/// # Errors
/// If a section of the snapshot is damaged, or there is no room.
pub(crate) fn retained(
    place: &Place,
    snapshot: &Snapshot<'_>,
    dominators: &[u32],
    root_nodes: &[u32],
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
        let mut last = NO_BLOCK;
        for parent in &dominators[range] {
            if *parent < blocks && *parent != last {
                last = *parent;
                keep(last);
            }
        }
    });
    large.iter().copied().for_each(keep);
    let kept = Bits::from_words(inner.into_iter().map(AtomicU64::into_inner).collect());
    // What each waits for: its children and itself.
    let sums = Sums::new(place, Ranked::new(kept), 1, root_nodes.len())?;
    in_pieces(dominators.len(), threads, |range| {
        // Neighbours are often dominated by the same block.
        let mut parts = 0;
        let mut here = dominators[range].iter().copied().peekable();
        while let Some(parent) = here.next() {
            parts += 1;
            if here.peek() != Some(&parent) {
                if parent < blocks {
                    sums.wait_for_more(parent, parts);
                }
                parts = 0;
            }
        }
    });
    sweep(
        snapshot,
        threads,
        Detail::Sizes,
        || (),
        |(), _, columns| {
            let mut gathered = Gathered::default();
            for (block, size) in columns.sizes() {
                sums.give(dominators, block.0, size.0, &mut gathered);
            }
            sums.settle(dominators, gathered);
        },
    )?;
    Ok(sums.finish(root_nodes))
}

/// Sums of what blocks and root nodes dominate, while threads add to them.
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
    pub(super) fn new(
        place: &Place,
        kept: Ranked,
        parts: u8,
        root_nodes: usize,
    ) -> io::Result<Self> {
        let count = kept.len();
        Ok(Self {
            kept,
            words: place.column(count, || AtomicU32::new(0))?,
            large: Mutex::default(),
            waits: Waits {
                few: place.column(count, || AtomicU8::new(parts))?,
                many: Mutex::default(),
            },
            held: (0..root_nodes).map(|_| AtomicU64::new(0)).collect(),
        })
    }

    /// So many parts more for a block to wait for.
    #[inline]
    pub(super) fn wait_for_more(&self, block: u32, parts: u64) {
        self.waits.more(self.kept.rank(block), parts);
    }

    /// Adds a part. A block that is complete is handed to the one above, which may complete that.
    /// Parts of a block that waits for very many are `gathered`, until those of another one come.
    #[inline]
    pub(super) fn give(&self, dominators: &[u32], block: u32, part: u64, gathered: &mut Gathered) {
        self.hand_up(dominators, Gathered { block, part, parts: 1 }, false, gathered);
    }

    /// Adds what is still gathered.
    pub(super) fn settle(&self, dominators: &[u32], mut gathered: Gathered) {
        while gathered.parts > 0 {
            let given = std::mem::take(&mut gathered);
            self.hand_up(dominators, given, true, &mut gathered);
        }
    }

    #[inline]
    fn hand_up(
        &self,
        dominators: &[u32],
        given: Gathered,
        was_gathered: bool,
        gathered: &mut Gathered,
    ) {
        let Gathered { block: mut at, mut part, mut parts } = given;
        let mut was_gathered = was_gathered;
        let blocks = dominators.len() as u32;
        loop {
            if self.kept.contains(at) {
                let rank = self.kept.rank(at);
                if !was_gathered && self.waits.are_many(rank) {
                    let Some(other) = gathered.take_in(at, part) else { return };
                    Gathered { block: at, part, parts } = other;
                    was_gathered = true;
                    continue;
                }
                self.add(at, rank, part);
                if !self.waits.less(rank, parts) {
                    return;
                }
                part = match self.words[rank as usize].load(Ordering::Relaxed) {
                    NO_BLOCK => locked(&self.large).get(&at).copied().unwrap_or(0),
                    words => u64::from(words),
                };
            }
            (parts, was_gathered) = (1, false);
            match dominators[at as usize] {
                NO_BLOCK => return,
                parent if parent >= blocks => {
                    // Sums of bytes that a damaged file claims may be too large for any number.
                    let _ = self.held[(parent - blocks) as usize].fetch_update(
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                        |held| Some(held.saturating_add(part)),
                    );
                    return;
                }
                parent => at = parent,
            }
        }
    }

    fn add(&self, block: u32, rank: u32, part: u64) {
        let words = &self.words[rank as usize];
        let mut before = words.load(Ordering::Relaxed);
        while before != NO_BLOCK {
            let sum = u64::from(before).saturating_add(part);
            if sum >= u64::from(NO_BLOCK) {
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
        let before = match words.swap(NO_BLOCK, Ordering::Relaxed) {
            NO_BLOCK => 0,
            before => u64::from(before),
        };
        let sum = large.entry(block).or_insert(0);
        *sum = sum.saturating_add(before).saturating_add(part);
    }

    /// The sums, all parts given. `root_parents` has for each root node its parent, which comes before.
    pub(super) fn finish(self, root_parents: &[u32]) -> (Sizes, Vec<u64>) {
        let mut held: Vec<u64> = self.held.into_iter().map(AtomicU64::into_inner).collect();
        for root_node in (1..root_parents.len()).rev() {
            let into = root_parents[root_node] as usize;
            if into < root_node {
                held[into] = held[into].saturating_add(held[root_node]);
            }
        }
        let large = self.large.into_inner().unwrap_or_else(PoisonError::into_inner);
        (Sizes { kept: self.kept, words: into_plain(self.words), large }, held)
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
    fn more(&self, rank: u32, parts: u64) {
        let few = &self.few[rank as usize];
        let mut known = few.load(Ordering::Relaxed);
        loop {
            let sum = u64::from(known) + parts;
            let new = u8::try_from(sum).unwrap_or(u8::MAX);
            match few.compare_exchange_weak(known, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) if sum > u64::from(new) => {
                    *locked(&self.many).entry(rank).or_insert(0) += sum - u64::from(new);
                    return;
                }
                Ok(_) => return,
                Err(now) => known = now,
            }
        }
    }

    /// Whether so many parts are missing that not each should be counted by itself.
    #[inline]
    fn are_many(&self, rank: u32) -> bool {
        self.few[rank as usize].load(Ordering::Relaxed) == u8::MAX
    }

    /// So many parts less; says whether those were the last. Whoever gives the last sees what all
    /// others have given.
    #[inline]
    fn less(&self, rank: u32, parts: u64) -> bool {
        let few = &self.few[rank as usize];
        let mut parts = parts;
        if few.load(Ordering::Relaxed) == u8::MAX {
            let mut waits = locked(&self.many);
            if let Some(many) = waits.get_mut(&rank) {
                let some = parts.min(*many);
                *many -= some;
                if *many == 0 {
                    waits.remove(&rank);
                }
                parts -= some;
                if parts == 0 {
                    return false;
                }
            }
        }
        few.fetch_sub(parts as u8, Ordering::AcqRel) == parts as u8
    }
}

/// Parts of a block that waits for very many, added up before they are added to it: an array of
/// millions would otherwise be locked for each of its elements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gathered {
    block: u32,
    part: u64,
    parts: u64,
}

impl Gathered {
    /// Takes in a part of a block. If that is another block than before, gives back what was gathered
    /// of that one.
    fn take_in(&mut self, block: u32, part: u64) -> Option<Self> {
        if self.parts == 0 || self.block == block {
            *self = Self { block, part: self.part.saturating_add(part), parts: self.parts + 1 };
            return None;
        }
        Some(std::mem::replace(self, Self { block, part, parts: 1 }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Graph, SUPER_ROOT};
    use crate::model::{Heap, Value};
    use crate::read::{Snapshot, Strength};
    use crate::{BlockIndex, RootKind, Words};

    /// Two arrays of so many elements that no byte counts them, whose elements alternate, and
    /// have something below them: the parts of each are gathered, and those of the other come between.
    #[test]
    fn arrays_of_many_elements_are_summed_up() {
        for threads in [1, 3] {
            let mut heap = Heap::new();
            let mut elements = [Vec::new(), Vec::new()];
            for number in 0..3_000 {
                let leaf = heap.block(0, &[Value::Int(number)]);
                let element = heap.block(0, &[Value::Block(leaf), Value::Int(number)]);
                elements[usize::from(number % 3 == 0)].push(Value::Block(element));
            }
            let [one, other] = elements.map(|elements| heap.block(0, &elements));
            let both = heap.block(0, &[Value::Block(one), Value::Block(other)]);
            heap.root(RootKind::Global, "root", Value::Block(both), Strength::Strong);
            let bytes = heap.bytes();
            let snapshot = Snapshot::read(&bytes).unwrap();
            let graph = Graph::new(&snapshot, threads).unwrap();
            let numbers = heap.numbers();
            let retained = |made: crate::model::Made| graph.retained(BlockIndex(numbers[made.0]));
            assert_eq!(retained(one), Some(Words(2_001 + 2_000 * 5)));
            assert_eq!(retained(other), Some(Words(1_001 + 1_000 * 5)));
            assert_eq!(graph.held(SUPER_ROOT), Words(3 + 3_002 + 3_000 * 5));
        }
    }
}
