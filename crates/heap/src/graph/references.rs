//! What refers to each block, block by block: the way up that the core has tree by tree.
//!
//! A block with a single parent has it in the column of dominators. All others, the tree roots, have their lists
//! here. They are made when a query needs them, in one pass over the snapshot.

use super::analysis::Graph;
use super::column::Place;
use super::csr::Csr;
use super::nodes::{Node, RootNodeId};
use super::passes::sweep;
use crate::label::LabelRole;
use crate::read::{Detail, Error, Snapshot};
use crate::units::LabelId;

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

impl Graph {
    /// Looks for what refers to each tree root. References to static data are left out, as static data is always
    /// there; those of ephemerons and finalisers count as for the dominators.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub(crate) fn references(
        &self,
        snapshot: &Snapshot<'_>,
        threads: usize,
    ) -> Result<References, Error> {
        let mut from_roots: Vec<(u32, u32)> = Vec::new();
        for (label, _) in snapshot.labels.iter() {
            let from = self.number(Node::RootNode(self.owning_root(snapshot, label)));
            let nodes = self.core.of(self.root_nodes.label(label).0);
            from_roots.extend(nodes.iter().filter_map(|node| Some((self.rank(*node)?, from))));
        }
        // Slots of a frame may hold the same block.
        from_roots.sort_unstable();
        from_roots.dedup();
        let found =
            sweep(snapshot, threads, Detail::Edges, Vec::new, |found, section, columns| {
                let mut here: Vec<(u32, u32)> = Vec::new();
                let mut targets: Vec<u32> = Vec::new();
                for block in columns.iter().filter(|block| self.is_reachable(block.index)) {
                    let from = block.index.0;
                    let counts = |to: &u32| {
                        *to != from && self.tree_roots.contains(*to) && !self.is_static(*to)
                    };
                    targets.extend(block.targets.iter().copied().filter(counts));
                    targets.sort_unstable();
                    targets.dedup();
                    here.extend(targets.drain(..).map(|to| (self.tree_roots.rank(to), from)));
                }
                found.push((section, here));
            })?;
        let mut found: Vec<(usize, Vec<(u32, u32)>)> = found.into_iter().flatten().collect();
        found.sort_unstable_by_key(|(section, _)| *section);
        let conditional = self.conditional.iter();
        let conditional = conditional.filter_map(|edge| Some((self.rank(edge.to)?, edge.from)));
        let edges = from_roots
            .iter()
            .copied()
            .chain(found.iter().flat_map(|(_, here)| here.iter().copied()))
            .chain(conditional);
        // In memory there is always room.
        let lists = Csr::from_edges(&Place::Memory, self.tree_roots.len(), &edges);
        Ok(References(lists.unwrap_or_default()))
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
