//! What the owners of blocks have to do with each other.

use std::collections::BTreeMap;

use super::analysis::Graph;
use super::bits::Bits;
use super::nodes::{NO_BLOCK, RootNode, RootNodeId};
use super::reach::ReachableSize;
use crate::units::{BlockIndex, Bytes};

/// So many other roots are looked at: bits of a mask.
const MAX_OTHERS: usize = 64;

impl Graph {
    /// What can be reached from some blocks that roots hold, by owner.
    pub fn reachable_by_owner(&self, blocks: &[BlockIndex]) -> Vec<(RootNodeId, ReachableSize)> {
        let mut reached = Bits::new(self.core.nodes());
        let mut todo: Vec<u32> = Vec::new();
        for node in blocks.iter().filter_map(|block| self.core_node(block.0)) {
            if reached.insert(node) {
                todo.push(node);
            }
        }
        let mut sizes: BTreeMap<RootNodeId, ReachableSize> = BTreeMap::new();
        while let Some(from) = todo.pop() {
            if let Some(owner) = self.owner_of_node(from) {
                let size = sizes.entry(owner).or_default();
                size.words.0 += self.weight(from);
                size.external += Bytes(self.external.weight(from));
            }
            todo.extend(self.core.of(from).iter().copied().filter(|to| reached.insert(*to)));
        }
        sizes.into_iter().collect()
    }

    /// Other roots, and owners of blocks, that refer to something that a root owns, and how much of that
    /// they reach within it; those with most references if there are very many.
    pub fn referring_owners(&self, owner: RootNodeId) -> Vec<(RootNodeId, ReachableSize)> {
        let mut entries: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for from in 0..self.core.nodes() as u32 {
            let Some(other) = self.owner_or_root(from).filter(|other| *other != owner) else {
                continue;
            };
            let into =
                self.core.of(from).iter().filter(|to| self.owner_of_node(**to) == Some(owner));
            for to in into {
                entries.entry(other.0).or_default().push(*to);
            }
        }
        let mut entries: Vec<(u32, Vec<u32>)> = entries.into_iter().collect();
        entries.sort_by_key(|(other, nodes)| (std::cmp::Reverse(nodes.len()), *other));
        entries.truncate(MAX_OTHERS);
        let mut masks = vec![0u64; self.core.nodes()];
        let mut todo: Vec<u32> = Vec::new();
        for (bit, (_, nodes)) in entries.iter().enumerate() {
            for node in nodes {
                masks[*node as usize] |= 1 << bit;
                todo.push(*node);
            }
        }
        while let Some(from) = todo.pop() {
            let mask = masks[from as usize];
            for to in self.core.of(from) {
                let known = masks[*to as usize];
                if known | mask != known && self.owner_of_node(*to) == Some(owner) {
                    masks[*to as usize] = known | mask;
                    todo.push(*to);
                }
            }
        }
        let mut sizes = vec![ReachableSize::default(); entries.len()];
        for (node, mask) in (0u32..).zip(&masks).filter(|(_, mask)| **mask != 0) {
            let (words, external) = (self.weight(node), Bytes(self.external.weight(node)));
            for size in (0..).zip(&mut sizes).filter(|(bit, _)| mask >> bit & 1 != 0) {
                size.1.words.0 += words;
                size.1.external += external;
            }
        }
        entries.into_iter().map(|(other, _)| RootNodeId(other)).zip(sizes).collect()
    }

    /// The owner of a node of the core; a label itself.
    fn owner_or_root(&self, node: u32) -> Option<RootNodeId> {
        if (node as usize) < self.root_nodes.len() {
            let root = RootNodeId(node);
            return matches!(self.root_nodes.get(root), RootNode::Label(_)).then_some(root);
        }
        self.owner_of_node(node)
    }

    pub(super) fn owner_of_node(&self, node: u32) -> Option<RootNodeId> {
        let owner = *self.owners.get((node as usize).checked_sub(self.root_nodes.len())?)?;
        (owner != NO_BLOCK).then_some(RootNodeId(owner))
    }
}
