//! The result of an analysis: what dominates each block, and what it retains.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::bits::Ranked;
use super::column::Column;
use super::core::{Conditional, Why};
use super::csr::Csr;
use super::external::External;
use super::nodes::{CoreNodes, NO_BLOCK, Node, RootNodeId, RootNodes, SHARED};
use super::parents;
use super::passes::in_pieces;
use super::retained::Sizes;
use super::weights::Weights;
use crate::units::{BlockIndex, Bytes, Words};

/// The dominators and retained sizes of a snapshot.
#[derive(Debug)]
pub struct Graph {
    pub(super) root_nodes: RootNodes,
    /// For each block what dominates it: blocks by number, root nodes behind them.
    pub(super) dominators: Column<u32>,
    /// For each root node the one above.
    pub(super) root_parents: Vec<u32>,
    pub(super) sizes: Sizes,
    pub(super) held: Vec<u64>,
    pub(super) tree_roots: Ranked,
    /// Of each tree root: the block that points to it on a way from a root with the fewest tree roots, or the
    /// root node.
    pub(super) predecessor: Column<u32>,
    /// Of each tree root: words of the tree of blocks that hangs from it, itself counted.
    pub(super) weights: Weights,
    pub(super) external: External,
    /// Edges of the core that stand for ephemerons and finalisers, in order of the nodes that they leave: they are
    /// the last ones of each.
    pub(super) conditional: Vec<Conditional>,
    pub(super) core: Csr,
    /// Of each tree root: the root node that owns it.
    pub(super) owners: Column<u32>,
    /// The core's nodes of what ephemerons and finalisers wait for, once that is asked for.
    pub(super) nodes_of_conditions: OnceLock<CoreNodes>,
    /// Submodules' blocks, with what each of their fields holds, in order.
    pub(super) modules: Vec<(u32, u32)>,
    /// The index that columns are in, if they were read from one.
    #[cfg(feature = "mmap")]
    pub(super) index: Option<memtrail_map::Extent>,
}

impl Graph {
    /// Whether the index that this was opened from has not been cut short since: otherwise, no question
    /// must be asked any more.
    #[cfg_attr(not(feature = "mmap"), allow(clippy::unused_self, reason = "nothing is mapped"))]
    pub fn is_whole(&self) -> bool {
        #[cfg(feature = "mmap")]
        return self.index.as_ref().is_none_or(memtrail_map::Extent::is_whole);
        #[cfg(not(feature = "mmap"))]
        true
    }

    /// The nodes above the blocks.
    pub fn root_nodes(&self) -> &RootNodes {
        &self.root_nodes
    }

    /// Whether anything retains a block.
    pub fn is_reachable(&self, block: BlockIndex) -> bool {
        self.dominators.get(block.0 as usize).is_some_and(|dominator| *dominator != NO_BLOCK)
    }

    /// What dominates a block or root node; nothing does the one above all and what is unreachable.
    pub fn dominator(&self, node: Node) -> Option<Node> {
        match node {
            Node::Block(block) => self.node(*self.dominators.get(block.0 as usize)?),
            Node::RootNode(root_node) => match *self.root_parents.get(root_node.0 as usize)? {
                NO_BLOCK => None,
                parent => Some(Node::RootNode(RootNodeId(parent))),
            },
        }
    }

    /// The blocks that no other block dominates, with the root nodes that do.
    pub(crate) fn below_roots(&self) -> impl Iterator<Item = (BlockIndex, RootNodeId)> + '_ {
        let tree_roots = self.tree_roots.bits().iter().map(BlockIndex);
        tree_roots.filter_map(|block| match self.dominator(Node::Block(block))? {
            Node::RootNode(root_node) => Some((block, root_node)),
            Node::Block(_) => None,
        })
    }

    /// What points to a block, on a way from a root that leads over as few shared blocks as can be.
    pub fn toward_root(&self, block: BlockIndex) -> Option<Node> {
        if !self.is_reachable(block) {
            return None;
        }
        if self.tree_roots.contains(block.0) {
            self.node(*self.predecessor.get(self.tree_roots.rank(block.0) as usize)?)
        } else {
            self.node(self.dominators[block.0 as usize])
        }
    }

    fn node(&self, number: u32) -> Option<Node> {
        let blocks = self.dominators.len() as u32;
        match number {
            NO_BLOCK => None,
            block if block < blocks => Some(Node::Block(BlockIndex(block))),
            root_node => Some(Node::RootNode(RootNodeId(root_node - blocks))),
        }
    }

    /// What a block retains, itself counted, if that is more than itself or it is large. Of the
    /// others it is their own size, which the snapshot has.
    pub fn retained(&self, block: BlockIndex) -> Option<Words> {
        if block.0 as usize >= self.dominators.len() {
            return None;
        }
        self.sizes.get(block.0)
    }

    /// What a root node retains: the blocks that none but it and what is below it retains.
    pub fn held(&self, root_node: RootNodeId) -> Words {
        Words(self.held.get(root_node.0 as usize).copied().unwrap_or(0))
    }

    /// Whether what is said of single blocks is exact for all of them: no ephemeron has data that
    /// is live. Otherwise [`Graph::freed`] is.
    pub fn is_exact(&self) -> bool {
        self.conditional.iter().all(|edge| edge.why == Why::Finaliser)
    }

    /// The bytes outside the heap (of bigarrays, for example) that would be freed with a block: its
    /// own, and those of what it retains.
    pub fn external(&self, block: BlockIndex) -> Bytes {
        if block.0 as usize >= self.dominators.len() {
            return Bytes(0);
        }
        self.external.get(block.0)
    }

    /// The bytes outside the heap that go with what a root node retains.
    pub fn held_external(&self, root_node: RootNodeId) -> Bytes {
        Bytes(self.external.held.get(root_node.0 as usize).copied().unwrap_or(0))
    }

    /// For each block the nearest one above it in its tree that is the tree's top or is `cut` there;
    /// [`SHARED`] for these themselves.
    pub(super) fn tops(&self, cut: impl Fn(u32) -> bool + Sync, threads: usize) -> Vec<u32> {
        let blocks = self.dominators.len() as u32;
        let tops: Vec<AtomicU32> = (0..blocks).map(|_| AtomicU32::new(NO_BLOCK)).collect();
        in_pieces(tops.len(), threads, |range| {
            for block in range {
                let top = match self.dominators[block] {
                    _ if self.tree_roots.contains(block as u32) || cut(block as u32) => SHARED,
                    parent if parent < blocks => parent,
                    _ => NO_BLOCK,
                };
                tops[block].store(top, Ordering::Relaxed);
            }
        });
        parents::climb_to_heads(&tops, threads);
        tops.into_iter().map(AtomicU32::into_inner).collect()
    }

    /// The block or root node at the top of the tree that a block is in, as a node of the core.
    pub(super) fn core_node(&self, block: u32) -> Option<u32> {
        let mut at = block;
        loop {
            match self.parent_in_tree(at) {
                Ok(parent) => at = parent,
                Err(node) => return node,
            }
        }
    }

    /// The block above a block in its tree; of the top, its node of the core. No node if it hangs from nothing.
    pub(super) fn parent_in_tree(&self, block: u32) -> Result<u32, Option<u32>> {
        if self.tree_roots.contains(block) {
            return Err(Some(self.root_nodes.len() as u32 + self.tree_roots.rank(block)));
        }
        let parent = self.dominators.get(block as usize).copied().ok_or(None)?;
        if (parent as usize) < self.dominators.len() { Ok(parent) } else { Err(None) }
    }
}
