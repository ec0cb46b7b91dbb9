//! The blocks that may be referred to, by address.

use memtrail_trace::BlockId;

use super::areas::Area;
use super::chunks::Chunks;

/// Bits of the quick look: pages at a multiple of this from each other share one.
const PAGES: u64 = 1 << 20;
const PAGE: u64 = 4096;
const WORD: u64 = 8;

/// A sampled block.
pub(crate) struct Sampled {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) id: BlockId,
}

/// Memory that may be referred to.
pub(super) struct Target {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) sampled: Option<BlockId>,
}

/// Blocks by address.
pub(super) struct Targets {
    all: Vec<Target>,
    /// A bit for each page that has a block, or a part of one.
    pages: Box<[u64]>,
}

impl Targets {
    /// Sampled blocks, and chunks that are none.
    pub(super) fn new(mut sampled: Vec<Sampled>, chunks: &Chunks) -> Self {
        sampled.sort_unstable_by_key(|block| block.address);
        let is_sampled = |start: u64, end: u64| {
            let next = sampled.partition_point(|block| block.address < start);
            sampled.get(next).is_some_and(|block| block.address < end)
        };
        let unsampled = chunks.in_use.iter().filter(|&(&start, &end)| !is_sampled(start, end));
        let unsampled = unsampled.map(|(&start, &end)| Target { start, end, sampled: None });
        let mut all: Vec<Target> = Vec::with_capacity(sampled.len() + chunks.in_use.len());
        all.extend(unsampled);
        // An empty block has an address, too.
        all.extend(sampled.iter().map(|block| Target {
            start: block.address,
            end: block.address.saturating_add(block.size.max(1)),
            sampled: Some(block.id),
        }));
        all.sort_unstable_by_key(|target| target.start);
        let mut pages = vec![0_u64; (PAGES / 64) as usize].into_boxed_slice();
        for target in &all {
            let (first, last) = (target.start / PAGE, target.end.saturating_sub(1) / PAGE);
            for page in first..=last.min(first.saturating_add(PAGES)) {
                let bit = page % PAGES;
                pages[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
        Self { all, pages }
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> &[Target] {
        &self.all
    }

    /// Where the sampled ones are.
    pub(super) fn sampled(&self) -> impl Iterator<Item = Area> {
        self.all.iter().filter(|target| target.sampled.is_some()).map(|t| t.start..t.end)
    }

    /// True if a word of the allocator's own leads to the chunk behind a block. The header of a chunk begins with the last
    /// word of the block before it, so that a list of free chunks seems to refer to blocks in use.
    pub(super) fn is_behind(&self, word: u64, to: u32) -> bool {
        self.all
            .get(to as usize)
            .is_some_and(|target| word > target.start && word.saturating_add(WORD) >= target.end)
    }

    /// The number of the block that a word leads to.
    #[inline]
    pub(super) fn find(&self, word: u64) -> Option<u32> {
        let bit = word / PAGE % PAGES;
        if self.pages[(bit / 64) as usize] >> (bit % 64) & 1 == 0 {
            return None;
        }
        let after = self.all.partition_point(|target| target.start <= word);
        let at = after.checked_sub(1)?;
        (word < self.all.get(at)?.end).then_some(at as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a look at all blocks one by one.
    #[test]
    fn a_word_leads_to_the_block_that_it_is_in() {
        let mut random = 7_u64;
        let mut below = |limit: u64| {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (random >> 33) % limit
        };
        let (mut start, mut sampled) = (0, Vec::new());
        for id in 0..200 {
            start += 1 + below(9000);
            let size = below(9000);
            sampled.push(Sampled { address: start, size, id: BlockId(id) });
            start += size.max(1);
        }
        let place = |block: &Sampled| block.address..block.address + block.size.max(1);
        let places: Vec<Area> = sampled.iter().map(place).collect();
        let targets = Targets::new(sampled, &Chunks::default());
        for _ in 0..5000 {
            let word = below(start + 10_000);
            // Far away, too, where another page has the same bit.
            for word in [word, word + PAGES * PAGE] {
                let expected = places.iter().position(|place| place.contains(&word));
                assert_eq!(targets.find(word).map(|at| at as usize), expected);
            }
        }
    }
}
