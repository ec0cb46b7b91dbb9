//! Where an address is in the table and in its filter.

use crate::units::Address;

/// Where an address is. The highest bits of its entry in the filter choose the shard: so each entry of the filter is of
/// one shard, and changes under its lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hash(u64);

/// Bits that choose the filter's entry.
pub(crate) const FILTER_BITS: u32 = 16;

/// 2^64 divided by the golden ratio: multiples of anything spread.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// Blocks of `malloc` are 32 bytes apart or more. With these bits the entries of such neighbours are neighbours, so that 400 of
/// them, which often are freed together, have theirs in one line of the cache. Those of blocks further apart spread.
const NEIGHBOURS: u64 = GOLDEN >> 20;

impl Hash {
    #[inline]
    pub(crate) const fn of(address: Address) -> Self {
        Self(address.0 as u64)
    }

    #[inline]
    pub(crate) const fn filter_entry(self) -> usize {
        (self.0.wrapping_mul(NEIGHBOURS) >> (64 - FILTER_BITS)) as usize
    }

    /// `shards` is a power of two.
    pub(crate) const fn shard(self, shards: usize) -> usize {
        self.filter_entry() >> (FILTER_BITS - shards.trailing_zeros())
    }

    pub(crate) const fn slot(self, mask: usize) -> usize {
        (self.0.wrapping_mul(GOLDEN) >> 16) as usize & mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many entries have blocks that are so far apart.
    fn entries(blocks: usize, apart: usize) -> usize {
        let entry =
            |number: usize| Hash::of(Address(0x7f12_3456_7010 + number * apart)).filter_entry();
        let mut entries: Vec<usize> = (0..blocks).map(entry).collect();
        entries.sort_unstable();
        entries.dedup();
        entries.len()
    }

    /// By chance there would be 41,400 for as many blocks as there are entries, and 992 of a thousand.
    #[test]
    fn multiples_of_anything_spread() {
        for apart in (5..24).flat_map(|bits| [1 << bits, 3 << bits, (1 << bits) + 16]) {
            assert!(entries(1_000, apart) >= 980, "{apart} bytes apart: {}", entries(1_000, apart));
            assert!(
                entries(1 << 16, apart) >= 25_000,
                "{apart} bytes apart: {}",
                entries(1 << 16, apart)
            );
        }
    }

    #[test]
    fn neighbours_are_in_one_line() {
        let entries: Vec<usize> = (0..300)
            .map(|number| Hash::of(Address(0x5555_0000_0010 + number * 32)).filter_entry())
            .collect();
        let lines: std::collections::BTreeSet<usize> =
            entries.iter().map(|entry| entry / 512).collect();
        assert!(lines.len() <= 2, "{lines:?}");
    }
}
