//! Numbers of the core's nodes.

use super::bits::Ranked;
use super::nodes::RootNodes;

/// Numbers of the core's nodes: root nodes first, then tree roots in the order of blocks.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub(crate) root_nodes: RootNodes,
    pub(crate) tree_roots: Ranked,
}

impl Numbers {
    #[inline]
    pub(crate) fn of_tree_root(&self, block: u32) -> u32 {
        self.root_nodes.len() as u32 + self.tree_roots.rank(block)
    }

    /// The tree root that a node of the core is; root nodes are none.
    pub(crate) fn tree_root(&self, node: u32) -> Option<u32> {
        self.tree_roots.select(node.checked_sub(self.root_nodes.len() as u32)?)
    }

    pub(crate) fn is_root_node(&self, node: u32) -> bool {
        (node as usize) < self.root_nodes.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.root_nodes.len() + self.tree_roots.len()
    }
}
