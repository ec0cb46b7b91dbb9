//! Where blocks start: a bit for each word of memory, and how many bits stand before.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Memory is covered in pages of 2 MiB, wherever they are in the address space.
const PAGE_SHIFT: u32 = 21;
/// Bits of a page, one a word.
const PAGE_BITS: u64 = 1 << (PAGE_SHIFT - 3);
/// Words that hold a page's bits.
const PAGE_WORDS: usize = PAGE_BITS as usize / 64;
/// Words of bits that one count stands before: with fewer, counts would take half as much as the bits themselves.
const GROUP: usize = 8;
/// Places of the cache of pages.
const CACHE: usize = 256;

const NO_PAGE: u32 = u32::MAX;

/// A set of addresses of blocks, and the number of each.
#[derive(Debug)]
pub(crate) struct BlockStarts {
    /// The pages: number in the address space, number of their bits here.
    pages: HashMap<u64, u32, FxBuildHasher>,
    bits: Vec<u64>,
    /// Blocks before each [`GROUP`] of words of bits, once [`BlockStarts::number`] has counted.
    before: Vec<u32>,
}

/// Remembers pages that were looked up.
#[derive(Debug)]
pub(crate) struct Recent([(u64, u32); CACHE]);

impl Recent {
    pub(crate) fn new() -> Self {
        Self([(u64::MAX, NO_PAGE); CACHE])
    }
}

impl BlockStarts {
    pub(crate) fn new() -> Self {
        Self { pages: HashMap::default(), bits: Vec::new(), before: Vec::new() }
    }

    /// Makes room for the addresses from `start` to `end`.
    pub(crate) fn cover(&mut self, start: u64, end: u64) {
        for page in start >> PAGE_SHIFT..=end.saturating_sub(1) >> PAGE_SHIFT {
            let next = (self.bits.len() / PAGE_WORDS) as u32;
            if let hashbrown::hash_map::Entry::Vacant(entry) = self.pages.entry(page) {
                entry.insert(next);
                self.bits.resize(self.bits.len() + PAGE_WORDS, 0);
            }
        }
    }

    #[inline]
    fn page(&self, address: u64, recent: &mut Recent) -> u32 {
        let page = address >> PAGE_SHIFT;
        let place = &mut recent.0[page as usize % CACHE];
        if place.0 != page {
            *place = (page, self.pages.get(&page).copied().unwrap_or(NO_PAGE));
        }
        place.1
    }

    /// Which word of bits holds an address's bit, and the bit.
    #[inline]
    fn place(&self, address: u64, recent: &mut Recent) -> Option<(usize, u64)> {
        let page = self.page(address, recent);
        if page == NO_PAGE {
            return None;
        }
        let bit = address >> 3 & (PAGE_BITS - 1);
        Some((page as usize * PAGE_WORDS + (bit >> 6) as usize, 1 << (bit & 63)))
    }

    /// Whether any covered page holds the address.
    #[inline]
    pub(crate) fn covers(&self, address: u64, recent: &mut Recent) -> bool {
        self.page(address, recent) != NO_PAGE
    }

    /// Adds a block; says whether it is new.
    #[inline]
    pub(crate) fn set(&mut self, address: u64, recent: &mut Recent) -> bool {
        let Some((word, bit)) = self.place(address, recent) else { return false };
        let old = self.bits[word];
        self.bits[word] = old | bit;
        old & bit == 0
    }

    /// Numbers the blocks in the order of addresses and says how many there are.
    pub(crate) fn number(&mut self) -> u64 {
        let mut order: Vec<(u64, u32)> = self.pages.iter().map(|(page, at)| (*page, *at)).collect();
        order.sort_unstable();
        self.before.resize(self.bits.len() / GROUP, 0);
        let mut count = 0u64;
        for (_, at) in order {
            let words = at as usize * PAGE_WORDS..(at as usize + 1) * PAGE_WORDS;
            let groups = words.start / GROUP..words.end / GROUP;
            let bits = self.bits[words].chunks_exact(GROUP);
            for (before, bits) in self.before[groups].iter_mut().zip(bits) {
                *before = count as u32;
                count += bits.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            }
        }
        count
    }

    /// The number of the block at an address.
    #[inline]
    pub(crate) fn index(&self, address: u64, recent: &mut Recent) -> Option<u32> {
        let (word, bit) = self.place(address, recent)?;
        let bits = self.bits[word];
        if bits & bit == 0 {
            return None;
        }
        let before = self.bits[word / GROUP * GROUP..word].iter();
        let in_group: u32 = before.map(|word| word.count_ones()).sum();
        Some(self.before[word / GROUP] + in_group + (bits & (bit - 1)).count_ones())
    }

    /// Hands out the blocks from `start` up to `end`, in order, until told to stop.
    pub(crate) fn each<E>(
        &self,
        start: u64,
        end: u64,
        mut f: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut recent = Recent::new();
        let mut at = start;
        while at < end {
            let word_end = (at | 0x1ff) + 1;
            if let Some((word, bit)) = self.place(at, &mut recent) {
                let mut bits = self.bits[word] & !(bit - 1);
                if word_end > end {
                    bits &= (1 << (end >> 3 & 63)) - 1;
                }
                while bits != 0 {
                    f((at & !0x1ff) + u64::from(bits.trailing_zeros()) * 8)?;
                    bits &= bits - 1;
                }
            }
            at = word_end;
        }
        Ok(())
    }

    /// The last block at or before `address`, looked for from `start` on.
    pub(crate) fn last_before(&self, address: u64, start: u64) -> Option<u64> {
        let mut recent = Recent::new();
        let mut at = address;
        loop {
            if let Some((word, bit)) = self.place(at, &mut recent) {
                let bits = self.bits[word] & (bit | (bit - 1));
                if bits != 0 {
                    let found = (at & !0x1ff) + u64::from(bits.ilog2()) * 8;
                    return (found >= start).then_some(found);
                }
            }
            at = (at & !0x1ff).checked_sub(8).filter(|at| *at >= start)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_set(
            words in proptest::collection::btree_set(0u64..1 << 20, 0..200),
            from in 0u64..1 << 20,
            length in 0u64..1 << 19,
        ) {
            let addresses: BTreeSet<u64> = words.iter().map(|word| 0x7f00_0000_0000 + word * 8).collect();
            let (mut block_starts, mut recent) = (BlockStarts::new(), Recent::new());
            block_starts.cover(0x7f00_0000_0000, 0x7f00_0000_0000 + (8 << 20));
            // In an order that is not that of addresses.
            for address in addresses.iter().rev() {
                prop_assert!(block_starts.set(*address, &mut recent));
            }
            prop_assert_eq!(block_starts.number(), addresses.len() as u64);
            for (index, address) in addresses.iter().enumerate() {
                prop_assert_eq!(block_starts.index(*address, &mut recent), Some(index as u32));
            }
            let (start, end) = (0x7f00_0000_0000 + from * 8, 0x7f00_0000_0000 + (from + length) * 8);
            let mut seen = Vec::new();
            block_starts.each(start, end, |address| { seen.push(address); Ok::<(), ()>(()) }).unwrap();
            prop_assert_eq!(seen, addresses.range(start..end).copied().collect::<Vec<_>>());
            prop_assert_eq!(
                block_starts.last_before(end, start),
                addresses.range(start..=end).next_back().copied(),
            );
        }
    }
}
