//! The graph's nodes: blocks, and above them the root nodes: one above all, the kinds of roots below it,
//! then the labels.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::label::{Labels, RootKind};
use crate::units::{BlockIndex, LabelId};

/// No block, in columns of blocks.
pub(crate) const NO_BLOCK: u32 = u32::MAX;
/// Several blocks.
pub(crate) const SHARED: u32 = u32::MAX - 1;

/// A block, or a root node above the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A block.
    Block(BlockIndex),
    /// A root node.
    RootNode(RootNodeId),
}

/// A node that is no block: a place among [`RootNodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct RootNodeId(pub u32);

/// Nodes of the core, by block.
pub(super) type CoreNodes = HashMap<u32, u32, FxBuildHasher>;

/// The node above all.
pub const SUPER_ROOT: RootNodeId = RootNodeId(0);

/// The nodes above the blocks, parents before children: first the one above all, then a node for
/// each kind of root, then the labels.
#[derive(Clone, Copy, Debug)]
pub struct RootNodes {
    labels: u32,
}

impl RootNodes {
    pub(crate) fn new(labels: &Labels) -> Self {
        Self { labels: labels.len() as u32 }
    }

    const KINDS: u32 = RootKind::ALL.len() as u32;

    /// How many there are.
    #[allow(clippy::len_without_is_empty, reason = "the one above all is always there")]
    pub fn len(&self) -> usize {
        (1 + Self::KINDS + self.labels) as usize
    }

    /// The node of a kind of root.
    pub fn kind(&self, kind: RootKind) -> RootNodeId {
        let place = RootKind::ALL.iter().position(|known| *known == kind).unwrap_or(0);
        RootNodeId(1 + place as u32)
    }

    /// The node of a label.
    pub fn label(&self, label: LabelId) -> RootNodeId {
        RootNodeId(1 + Self::KINDS + label.0)
    }

    /// What a node is.
    pub fn get(&self, root_node: RootNodeId) -> RootNode {
        match root_node.0 {
            0 => RootNode::Everything,
            kind if kind <= Self::KINDS => RootNode::Kind(
                RootKind::ALL.get(kind as usize - 1).copied().unwrap_or(RootKind::Other),
            ),
            label => RootNode::Label(LabelId(label - 1 - Self::KINDS)),
        }
    }

    /// The node above.
    pub(crate) fn parent(self, root_node: RootNodeId, labels: &Labels) -> Option<RootNodeId> {
        match self.get(root_node) {
            RootNode::Everything => None,
            RootNode::Kind(_) => Some(SUPER_ROOT),
            RootNode::Label(id) => {
                let label = labels.get(id)?;
                Some(
                    label.parent.map_or_else(|| self.kind(label.kind), |parent| self.label(parent)),
                )
            }
        }
    }
}

/// What a node above the blocks is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RootNode {
    /// The one above all.
    Everything,
    /// All roots of a kind.
    Kind(RootKind),
    /// A label.
    Label(LabelId),
}
