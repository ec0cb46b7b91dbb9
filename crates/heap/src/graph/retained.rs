//! Retained sizes: what each block and each holder keeps alive by itself, itself counted.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::NONE;
use super::bits::{Bits, Ranked};
use crate::read::{Columns, Error, Snapshot};
use crate::units::Words;

/// Retained sizes of all blocks.
///
/// About half the blocks dominate nothing: what they retain is their own size, which the snapshot
/// has, so that only those that are larger than a few words are kept here too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    /// Blocks whose size is kept.
    pub(crate) kept: Ranked,
    /// Their sizes in words; [`NONE`] for those that do not fit.
    pub(crate) words: Vec<u32>,
    /// Sizes that do not fit, by block.
    pub(crate) large: HashMap<u32, u64, FxBuildHasher>,
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

    fn add(&mut self, block: u32, rank: usize, words: u64) {
        match self.words[rank] {
            NONE => {
                let sum = self.large.entry(block).or_insert(0);
                *sum = sum.saturating_add(words);
            }
            before => {
                let sum = u64::from(before).saturating_add(words);
                self.words[rank] = sum.min(u64::from(NONE)) as u32;
                if sum >= u64::from(NONE) {
                    self.large.insert(block, sum);
                }
            }
        }
    }
}

/// Sums up what every block and every holder retains. Holders follow the blocks in `dominators`;
/// each must come after the one above it. Sizes of `large` blocks are kept whatever they dominate.
pub(crate) fn retained(
    snapshot: &Snapshot<'_>,
    dominators: &[u32],
    holders: &[u32],
    large: &[u32],
) -> Result<(Sizes, Vec<u64>), Error> {
    let blocks = dominators.len() as u32;
    let mut inner = Bits::new(dominators.len());
    for above in dominators {
        if *above < blocks {
            inner.insert(*above);
        }
    }
    for block in large {
        inner.insert(*block);
    }
    let kept = Ranked::new(inner);
    // What each waits for: its children and itself.
    let mut sums = Sums::new(kept, 1, holders.len());
    for above in dominators {
        if *above < blocks {
            sums.wait_for_more(*above);
        }
    }
    let mut columns = Columns::new();
    for section in 0..snapshot.sections() {
        snapshot.decode(section, &mut columns)?;
        for block in columns.iter() {
            sums.give(dominators, block.index.0, block.size().0);
        }
    }
    Ok(sums.finish(holders))
}

/// Sums of what blocks and holders dominate, while they are being added up.
pub(super) struct Sums {
    sizes: Sizes,
    waits: Waits,
    held: Vec<u64>,
}

impl Sums {
    /// Sums for the blocks in `kept`, each of which waits for `parts`.
    pub(super) fn new(kept: Ranked, parts: u8, holders: usize) -> Self {
        Self {
            // Few have so many parts that a byte does not do.
            waits: Waits { few: vec![parts; kept.len()], many: HashMap::default() },
            sizes: Sizes { words: vec![0; kept.len()], kept, large: HashMap::default() },
            held: vec![0; holders],
        }
    }

    /// One part more for a block to wait for.
    #[inline]
    pub(super) fn wait_for_more(&mut self, block: u32) {
        self.waits.more(self.sizes.kept.rank(block));
    }

    /// Adds a part. A block that is complete is handed to the one above, which may complete that.
    #[inline]
    pub(super) fn give(&mut self, dominators: &[u32], block: u32, part: u64) {
        let (mut at, mut part) = (block, part);
        let blocks = dominators.len() as u32;
        loop {
            if self.sizes.kept.contains(at) {
                let rank = self.sizes.kept.rank(at);
                self.sizes.add(at, rank as usize, part);
                if !self.waits.less(rank) {
                    return;
                }
                part = self.sizes.get(at).unwrap_or_default().0;
            }
            match dominators[at as usize] {
                NONE => return,
                above if above >= blocks => {
                    let held = &mut self.held[(above - blocks) as usize];
                    *held = held.saturating_add(part);
                    return;
                }
                above => at = above,
            }
        }
    }

    /// The sums, all parts given. `above` has for each holder the one above it, which comes before.
    pub(super) fn finish(mut self, above: &[u32]) -> (Sizes, Vec<u64>) {
        for holder in (1..above.len()).rev() {
            let into = above[holder] as usize;
            if into < holder {
                self.held[into] = self.held[into].saturating_add(self.held[holder]);
            }
        }
        (self.sizes, self.held)
    }
}

/// How many parts of its sum each block still waits for.
struct Waits {
    few: Vec<u8>,
    many: HashMap<u32, u64, FxBuildHasher>,
}

impl Waits {
    #[inline]
    fn more(&mut self, rank: u32) {
        let few = &mut self.few[rank as usize];
        if *few < u8::MAX {
            *few += 1;
        } else {
            *self.many.entry(rank).or_insert(0) += 1;
        }
    }

    /// One part less; says whether that was the last.
    #[inline]
    fn less(&mut self, rank: u32) -> bool {
        let few = &mut self.few[rank as usize];
        if *few == u8::MAX
            && let Some(many) = self.many.get_mut(&rank)
        {
            *many -= 1;
            if *many == 0 {
                self.many.remove(&rank);
            }
            return false;
        }
        *few -= 1;
        *few == 0
    }
}
