//! What can be reached, over the core of the graph.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;

use super::analysis::Graph;
use super::bits::Bits;
use super::column::{Column, Place};
use super::csr::Csr;
use super::nodes::{NO_BLOCK, RootNodeId, SUPER_ROOT};
use super::passes::gather;
use crate::units::{Bytes, Words};

/// For each node of the core the one before it on a way from the root over as few of them as can be;
/// [`NO_BLOCK`] for the root and what cannot be reached.
///
/// # Errors
/// If there is no room for it.
pub(crate) fn shortest(place: &Place, graph: &Csr) -> io::Result<Column<u32>> {
    let mut before = place.column(graph.nodes(), || NO_BLOCK)?;
    // Each node is in it once.
    let mut queue: Column<u32> = place.zeros(graph.nodes())?;
    queue[0] = SUPER_ROOT.0;
    let (mut next, mut end) = (0, 1);
    while next < end {
        let from = queue[next];
        next += 1;
        for to in graph.of(from) {
            if before[*to as usize] == NO_BLOCK && *to != SUPER_ROOT.0 {
                before[*to as usize] = from;
                queue[end] = *to;
                end += 1;
            }
        }
    }
    Ok(before)
}

/// Root nodes of one pass of [`Graph::reach_each`]: bits of a mask.
const PASS: usize = 64;

/// A part of the heap that one or several root nodes reach.
#[derive(Clone, Debug)]
pub struct Reached {
    nodes: Bits,
    /// The size of all that is reached.
    pub words: Words,
    /// Bytes outside the heap that go with it.
    pub external: Bytes,
}

/// The size of what a root node reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReachableSize {
    /// Blocks' sizes, headers counted.
    pub words: Words,
    /// Bytes outside the heap that go with them.
    pub external: Bytes,
}

impl Graph {
    /// What root nodes reach, whatever else does, too.
    pub fn reach(&self, root_nodes: &[RootNodeId]) -> Reached {
        let mut nodes = Bits::new(self.core.nodes());
        let mut words = 0;
        let mut external = 0u64;
        let mut todo: Vec<u32> = Vec::new();
        for root_node in root_nodes {
            if (root_node.0 as usize) < self.root_nodes.len() && nodes.insert(root_node.0) {
                todo.push(root_node.0);
            }
        }
        while let Some(from) = todo.pop() {
            words += self.weight(from);
            external = external.saturating_add(self.external.weight(from));
            for to in self.core.of(from) {
                if nodes.insert(*to) {
                    todo.push(*to);
                }
            }
        }
        Reached { nodes, words: Words(words), external: Bytes(external) }
    }

    /// The size of what is in both.
    pub fn common(&self, a: &Reached, b: &Reached) -> Words {
        Words(
            a.nodes
                .iter()
                .filter(|node| b.nodes.contains(*node))
                .map(|node| self.weight(node))
                .sum(),
        )
    }

    pub(super) fn weight(&self, node: u32) -> u64 {
        let tree_root = (node as usize).checked_sub(self.root_nodes.len());
        tree_root.map_or(0, |tree_root| self.weights.get(tree_root))
    }
    /// The size of what each root node reaches, whatever else does, too; on so many threads.
    pub fn reach_each(&self, root_nodes: &[RootNodeId], threads: usize) -> Vec<ReachableSize> {
        let passes: Vec<&[RootNodeId]> = root_nodes.chunks(PASS).collect();
        let done: Result<Vec<_>, Infallible> =
            gather(passes.len(), threads, Vec::new, |done, number| {
                done.push((number, self.reach_pass(passes[number])));
                Ok(())
            });
        let Ok(done) = done;
        let mut done = done.concat();
        done.sort_unstable_by_key(|(number, _)| *number);
        done.into_iter().flat_map(|(_, sizes)| sizes).collect()
    }

    fn reach_pass(&self, root_nodes: &[RootNodeId]) -> Vec<ReachableSize> {
        let nodes = self.core.nodes();
        let mut masks = vec![0u64; nodes];
        let mut waiting = Bits::new(nodes);
        let mut queue = VecDeque::new();
        for (bit, root_node) in root_nodes.iter().enumerate() {
            if let Some(mask) = masks.get_mut(root_node.0 as usize)
                && (root_node.0 as usize) < self.root_nodes.len()
            {
                *mask |= 1 << bit;
                if waiting.insert(root_node.0) {
                    queue.push_back(root_node.0);
                }
            }
        }
        while let Some(from) = queue.pop_front() {
            waiting.remove(from);
            let mask = masks[from as usize];
            for to in self.core.of(from) {
                let known = &mut masks[*to as usize];
                if *known | mask != *known {
                    *known |= mask;
                    if waiting.insert(*to) {
                        queue.push_back(*to);
                    }
                }
            }
        }
        let mut sizes = vec![ReachableSize::default(); root_nodes.len()];
        for (node, mask) in (0u32..).zip(&masks) {
            let weight = if *mask == 0 { 0 } else { self.weight(node) };
            if weight > 0 {
                each_bit(*mask, |bit| sizes[bit].words.0 += weight);
            }
        }
        for (node, bytes) in &self.external.weights {
            let mask = masks.get(*node as usize).copied().unwrap_or_default();
            each_bit(mask, |bit| sizes[bit].external += Bytes(*bytes));
        }
        sizes
    }
}

/// Calls `each` with the places of the bits that are set.
fn each_bit(mut mask: u64, mut each: impl FnMut(usize)) {
    while mask != 0 {
        each(mask.trailing_zeros() as usize);
        mask &= mask - 1;
    }
}
