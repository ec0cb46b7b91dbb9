//! Who points to each block: the one block that does, or that there are several.
//!
//! Some nine blocks of ten have a single block that points to them, which therefore dominates them.
//! Only the others need thought.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::bits::{Bits, Ranked};
use super::column::{Column, Place};
use super::error::Failed;
use super::nodes::{NO_BLOCK, SHARED};
use super::passes::{in_pieces, sweep};
use crate::read::{Detail, Snapshot};
use crate::space::Space;

/// Blocks that need other care than most.
#[derive(Debug)]
pub(crate) struct Apart {
    /// Static data: never freed, so that no block retains it.
    pub(crate) statics: Bits,
    /// Blocks of [`LARGE`] words or more, in no order.
    pub(crate) large: Vec<u32>,
    /// Custom blocks with bytes outside the heap, and how many, in no order.
    pub(crate) customs: Vec<(u32, u64)>,
}

/// Sizes from which on a block is large.
const LARGE: u64 = 256;

/// For each block the only one that points to it; [`NO_BLOCK`] if none does, [`SHARED`] for those with
/// several, for static data, and for those in `tree_roots`, whatever points to them.
///
/// # Errors
/// If a section of the snapshot is damaged, or there is no room.
pub(crate) fn parents(
    place: &Place,
    snapshot: &Snapshot<'_>,
    tree_roots: impl Iterator<Item = u32>,
    threads: usize,
) -> Result<(Column<AtomicU32>, Apart), Failed> {
    let blocks = snapshot.blocks() as usize;
    let mut column = place.column(blocks, || AtomicU32::new(NO_BLOCK))?;
    let parents: &mut [AtomicU32] = &mut column;
    for tree_root in tree_roots {
        if let Some(parent) = parents.get_mut(tree_root as usize) {
            *parent.get_mut() = SHARED;
        }
    }
    let parents: &[AtomicU32] = parents;
    let found = sweep(
        snapshot,
        threads,
        Detail::Edges,
        || (Vec::new(), Vec::new(), Vec::new()),
        |(ranges, large, customs), _, columns| {
            for block in columns.iter() {
                for target in block.targets {
                    if *target != block.index.0 {
                        points(block.index.0, &parents[*target as usize]);
                    }
                }
            }
            let mut start = 0;
            for (space, end) in columns.spaces() {
                if space == Space::Static {
                    ranges.push((columns.first.0 + start as u32, columns.first.0 + end as u32));
                }
                start = end;
            }
            if columns.has_larger_than(LARGE) {
                let some = columns.iter().filter(|block| block.wosize.0 >= LARGE);
                large.extend(some.map(|block| block.index.0));
            }
            let some = columns.customs().filter(|(.., bytes)| *bytes > 0);
            customs.extend(some.map(|(place, _, bytes)| (columns.first.0 + place as u32, bytes)));
        },
    )?;
    let mut apart = Apart { statics: Bits::new(blocks), large: Vec::new(), customs: Vec::new() };
    for (ranges, mut large, mut customs) in found {
        apart.large.append(&mut large);
        apart.customs.append(&mut customs);
        for block in ranges.into_iter().flat_map(|(start, end)| start..end) {
            apart.statics.insert(block);
            parents[block as usize].store(SHARED, Ordering::Relaxed);
        }
    }
    Ok((column, apart))
}

/// The blocks whose parents are [`SHARED`].
pub(crate) fn tree_roots(parents: &[AtomicU32], threads: usize) -> Ranked {
    let words: Vec<AtomicU64> =
        (0..parents.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
    in_pieces(parents.len(), threads, |range| {
        for (place, some) in (range.start / 64..).zip(parents[range].chunks(64)) {
            let bits = some.iter().rev().fold(0, |bits, parent| {
                bits << 1 | u64::from(parent.load(Ordering::Relaxed) == SHARED)
            });
            words[place].store(bits, Ordering::Relaxed);
        }
    });
    Ranked::new(Bits::from_words(words.into_iter().map(AtomicU64::into_inner).collect()))
}

/// Notes that `block` points to the block whose parent this is.
#[inline]
fn points(block: u32, parent: &AtomicU32) {
    let mut seen = parent.load(Ordering::Relaxed);
    if seen == NO_BLOCK {
        match parent.compare_exchange(NO_BLOCK, block, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return,
            Err(other) => seen = other,
        }
    }
    if seen != block && seen != SHARED {
        parent.store(SHARED, Ordering::Relaxed);
    }
}

/// Replaces each block's parent by the tree root that it hangs from, the shared block at the top of its
/// tree of single parents. Blocks that hang from none get [`NO_BLOCK`].
///
/// Threads may climb over the same blocks: whatever one finds replaced leads to the same tree root.
pub(crate) fn climb_to_heads(parents: &[AtomicU32], threads: usize) {
    in_pieces(parents.len(), threads, |range| {
        for start in range {
            climb(parents, start as u32);
        }
    });
}

fn climb(parents: &[AtomicU32], start: u32) {
    let parent = |block: u32| parents[block as usize].load(Ordering::Relaxed);
    let first = parent(start);
    if first >= SHARED {
        return;
    }
    let mut at = first;
    // A circle that nothing points to (Brent): the one that waits is met again.
    let (mut waits, mut steps, mut limit) = (start, 0u64, 64u64);
    let tree_root = loop {
        match parent(at) {
            SHARED => break at,
            NO_BLOCK => break NO_BLOCK,
            _ if at == waits => break NO_BLOCK,
            parent => {
                if steps == limit {
                    (waits, steps, limit) = (at, 0, limit * 2);
                }
                steps += 1;
                at = parent;
            }
        }
    };
    let mut at = start;
    loop {
        let parent = parent(at);
        if parent >= SHARED || parent == tree_root {
            return;
        }
        parents[at as usize].store(tree_root, Ordering::Relaxed);
        at = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_climbing_step_by_step(
            parents in proptest::collection::vec(prop_oneof![4 => 0u32..40, 1 => Just(SHARED), 1 => Just(NO_BLOCK)], 40),
        ) {
            let tree_roots: Vec<AtomicU32> = parents.iter().copied().map(AtomicU32::new).collect();
            climb_to_heads(&tree_roots, 2);
            for start in 0..40u32 {
                let mut at = start;
                let mut steps = 0;
                let truth = loop {
                    match parents[at as usize] {
                        SHARED if at == start => break SHARED,
                        SHARED => break at,
                        NO_BLOCK => break NO_BLOCK,
                        _ if steps > 40 => break NO_BLOCK,
                        parent => at = parent,
                    }
                    steps += 1;
                };
                prop_assert_eq!(tree_roots[start as usize].load(Ordering::Relaxed), truth);
            }
        }
    }
}
