//! Where blocks are: what a fork and its parent both have is at the same addresses in both.

use super::heap::Heap;
use crate::graph::passes::sweep;
use crate::read::{Block, Detail, Error};
use crate::units::{Address, Bytes, Words};

/// The places of the reachable blocks of one process, or of several: addresses with tags and sizes.
#[derive(Debug, Default)]
pub struct Places(Vec<u64>);

/// Blocks at some places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// How many.
    pub blocks: u64,
    /// Their size.
    pub bytes: Bytes,
}

impl Places {
    /// The places of the reachable blocks of a process, and which of its blocks are at places that are `known`.
    ///
    /// A page that a fork shares with its parent has the same address and contents in both. So blocks that are in memory
    /// once are among these; so are others that happen to be alike.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn of(heap: &Heap<'_>, known: &Self) -> Result<(Self, Found), Error> {
        type Gathered = (Vec<u64>, u64, u64);
        let gathered = sweep(
            &heap.snapshot,
            heap.threads,
            Detail::Edges,
            Gathered::default,
            |(places, blocks, words), _, columns| {
                for (block, address) in columns.iter().zip(columns.addresses()) {
                    if block.is_off_heap() || !heap.graph.is_reachable(block.index) {
                        continue;
                    }
                    let place = place(&block, address);
                    if known.0.binary_search(&place).is_ok() {
                        *blocks += 1;
                        *words += block.size().0;
                    }
                    places.push(place);
                }
            },
        )?;
        let (mut places, mut found) = (Vec::new(), Found::default());
        for (mut some, blocks, words) in gathered {
            places.append(&mut some);
            found.blocks += blocks;
            found.bytes += Words(words).bytes();
        }
        places.sort_unstable();
        Ok((Self(places), found))
    }

    /// Adds those of another process.
    pub fn add(&mut self, mut more: Self) {
        self.0.append(&mut more.0);
        self.0.sort_unstable();
        self.0.dedup();
    }
}

/// An address, and behind it a hash of tag and size. Addresses have 47 bits, of which the last three are 0.
fn place(block: &Block<'_>, Address(address): Address) -> u64 {
    let size = block.wosize.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
    (address << 13) | (size ^ u64::from(block.tag) << 8)
}
