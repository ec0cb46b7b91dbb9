//! What refers to each block, block by block: the way up that the core has tree by tree.
//!
//! A block with a single parent has it in the column of dominators. All others, the tree roots, have their lists
//! here. They are made when a query needs them, in one pass over the snapshot.

use super::analysis::Graph;
use super::chunk_buffer::{ChunkBuffer, Spooled};
use super::column::Place;
use super::csr::Csr;
use super::error::Failed;
use super::nodes::{Node, RootNodeId};
use super::passes::sweep;
use crate::label::LabelRole;
use crate::read::{Detail, Snapshot};
use crate::units::LabelId;
use zerocopy::IntoBytes as _;

/// What refers to each tree root, once each: roots, then blocks in order, then keys of ephemerons and values with
/// finalisers.
#[derive(Debug, Default)]
pub(crate) struct References(Csr);

impl References {
    /// What refers to a tree root with a rank: blocks by number, roots behind them.
    pub(super) fn of(&self, rank: u32) -> &[u32] {
        self.0.of(rank)
    }
}

/// The pairs that were put aside of a section.
fn pairs(found: &Spooled, section: usize) -> impl Iterator<Item = (u32, u32)> + Clone {
    let (numbers, _) = found.get(section).as_chunks::<4>();
    let (pairs, _) = numbers.as_chunks::<2>();
    pairs.iter().map(|[a, b]| (u32::from_ne_bytes(*a), u32::from_ne_bytes(*b)))
}

impl Graph {
    /// Looks for what refers to each tree root. References to static data are left out, as static data is always
    /// there; those of ephemerons and finalisers count as for the dominators.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged, or there is no room for columns.
    pub(crate) fn references(
        &self,
        place: &Place,
        snapshot: &Snapshot<'_>,
        threads: usize,
    ) -> Result<References, Failed> {
        let mut from_roots: Vec<(u32, u32)> = Vec::new();
        for (label, _) in snapshot.labels.iter() {
            let from = self.number(Node::RootNode(self.owning_root(snapshot, label)));
            let nodes = self.core.of(self.root_nodes.label(label).0);
            from_roots.extend(nodes.iter().filter_map(|node| Some((self.rank(*node)?, from))));
        }
        // Slots of a frame may hold the same block.
        from_roots.sort_unstable();
        from_roots.dedup();
        let buffer = ChunkBuffer::new(place, snapshot.sections(), 4 * self.dominators.len());
        sweep(
            snapshot,
            threads,
            Detail::Edges,
            || (Vec::new(), Vec::new()),
            |(here, targets): &mut (Vec<[u32; 2]>, Vec<u32>), section, columns| {
                here.clear();
                for block in columns.iter().filter(|block| self.is_reachable(block.index)) {
                    let from = block.index.0;
                    let counts = |to: &u32| {
                        *to != from && self.tree_roots.contains(*to) && !self.is_static(*to)
                    };
                    targets.extend(block.targets.iter().copied().filter(counts));
                    targets.sort_unstable();
                    targets.dedup();
                    here.extend(targets.drain(..).map(|to| [self.tree_roots.rank(to), from]));
                }
                buffer.put(section, here.as_bytes());
            },
        )?;
        let found = buffer.finish()?;
        let conditional = self.conditional.iter();
        let conditional = conditional.filter_map(|edge| Some((self.rank(edge.to)?, edge.from)));
        let edges = from_roots
            .iter()
            .copied()
            .chain((0..found.len()).flat_map(|section| pairs(&found, section)))
            .chain(conditional);
        Ok(References(Csr::from_edges(place, self.tree_roots.len(), &edges)?))
    }

    /// What refers to a block or root, as far as it counts: see [`References`]. Nothing of static data and roots.
    pub(super) fn referring<'r>(&'r self, references: &'r References, number: u32) -> &'r [u32] {
        let Some(dominator) = self.dominators.get(number as usize..=number as usize) else {
            return &[];
        };
        if self.tree_roots.contains(number) {
            references.of(self.tree_roots.rank(number))
        } else {
            dominator
        }
    }

    /// The root that a label is, or is a part of: slots of a frame are the frame.
    fn owning_root(&self, snapshot: &Snapshot<'_>, label: LabelId) -> RootNodeId {
        let labels = &snapshot.labels;
        let slot = labels.get(label).filter(|label| label.part == LabelRole::Slot);
        self.root_nodes.label(slot.and_then(|slot| slot.parent).unwrap_or(label))
    }

    /// The rank of a node of the core that is a tree root.
    fn rank(&self, node: u32) -> Option<u32> {
        node.checked_sub(self.root_nodes.len() as u32)
    }

    /// The number that a block or root has among both.
    pub(super) fn number(&self, node: Node) -> u32 {
        match node {
            Node::Block(block) => block.0,
            Node::RootNode(root) => self.dominators.len() as u32 + root.0,
        }
    }
}
