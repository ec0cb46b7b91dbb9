//! Bytes outside the heap: what custom blocks hold elsewhere (bigarrays), summed up as sizes are.
//!
//! Few blocks have any, so only those that dominate such a block take up room.

use std::io;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::bits::{Bits, Ranked};
use super::column::Place;
use super::nodes::{NO_BLOCK, SHARED};
use super::numbering::Numbers;
use super::retained::{Gathered, Sizes, Sums};
use crate::units::Bytes;

/// Bytes outside the heap, of blocks and root nodes that retain any.
#[derive(Debug, Default)]
pub(crate) struct External {
    /// In bytes. Empty where no block has any.
    pub(crate) sizes: Sizes,
    /// For each root node.
    pub(crate) held: Vec<u64>,
    /// For each node of the core: of the tree of blocks that hangs from it.
    pub(crate) weights: HashMap<u32, u64, FxBuildHasher>,
}

impl External {
    /// What a block retains.
    pub(crate) fn get(&self, block: u32) -> Bytes {
        if self.sizes.words.is_empty() {
            return Bytes(0);
        }
        Bytes(self.sizes.get(block).unwrap_or_default().0)
    }

    /// What the tree of a node of the core has.
    pub(crate) fn weight(&self, node: u32) -> u64 {
        if self.weights.is_empty() { 0 } else { self.weights.get(&node).copied().unwrap_or(0) }
    }
}

/// What the tree of each node of the core has; `tree_roots` has for each block the tree root that it hangs
/// from.
pub(crate) fn weights(
    customs: &[(u32, u64)],
    numbers: &Numbers,
    tree_roots: &[u32],
) -> HashMap<u32, u64, FxBuildHasher> {
    let mut weights: HashMap<u32, u64, FxBuildHasher> = HashMap::default();
    for (block, bytes) in customs {
        let tree_root = match tree_roots[*block as usize] {
            SHARED => *block,
            NO_BLOCK => continue,
            tree_root => tree_root,
        };
        let sum = weights.entry(numbers.of_tree_root(tree_root)).or_default();
        *sum = sum.saturating_add(*bytes);
    }
    weights
}

/// Sums up the bytes of `customs` for all that dominate them.
///
/// # Errors
/// If there is no room for them.
pub(crate) fn retained(
    place: &Place,
    customs: &[(u32, u64)],
    dominators: &[u32],
    root_parents: &[u32],
) -> io::Result<(Sizes, Vec<u64>)> {
    if customs.is_empty() {
        return Ok((Sizes::default(), vec![0; root_parents.len()]));
    }
    let blocks = dominators.len() as u32;
    let mut kept = Bits::new(dominators.len());
    let mut parts = Vec::new();
    for (block, _) in customs {
        let mut at = *block;
        while kept.insert(at) {
            match dominators[at as usize] {
                parent if parent < blocks => at = parent,
                _ => break,
            }
            parts.push(at);
        }
    }
    let sums = Sums::new(place, Ranked::new(kept), 0, root_parents.len())?;
    for block in parts.into_iter().chain(customs.iter().map(|(block, _)| *block)) {
        sums.wait_for_more(block, 1);
    }
    let mut gathered = Gathered::default();
    for (block, bytes) in customs {
        sums.give(dominators, *block, *bytes, &mut gathered);
    }
    sums.settle(dominators, gathered);
    Ok(sums.finish(root_parents))
}
