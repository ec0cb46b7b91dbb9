//! Where an address is in the table and in its filter.

use crate::units::Address;

/// A hash of an address. Its highest bits choose the filter's entry, the highest of these the shard: so
/// each entry of the filter is of one shard, and changes under its lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hash(u64);

/// Bits that choose the filter's entry.
pub(crate) const FILTER_BITS: u32 = 16;

impl Hash {
    #[inline]
    pub(crate) const fn of(address: Address) -> Self {
        // 2^64 divided by the golden ratio: addresses that are multiples of something spread.
        Self((address.0 as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    #[inline]
    pub(crate) const fn filter_entry(self) -> usize {
        (self.0 >> (64 - FILTER_BITS)) as usize
    }

    /// `shards` is a power of two.
    pub(crate) const fn shard(self, shards: usize) -> usize {
        (self.0 >> (64 - shards.trailing_zeros())) as usize
    }

    pub(crate) const fn slot(self, mask: usize) -> usize {
        (self.0 >> 16) as usize & mask
    }
}
