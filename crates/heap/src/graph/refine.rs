//! From dominators among heads to dominators among all blocks.
//!
//! The core says for each shared block which *head* dominates it, but its dominator may be a block
//! further down in the tree that hangs from that head. Blocks with the same head above them are
//! settled together: in a small graph of the tree's blocks from which edges leave, the places where
//! their paths to the head meet, and the shared blocks themselves.

use std::io;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::bits::Bits;
use super::column::{Column, Place};
use super::core::Numbers;
use super::crowd;
use super::csr::{Csr, Pairs};
use super::semi_nca::{Tree, dominators};
use super::{NONE, SHARED};

/// From so many edges on, sets over all blocks cost less than tables of those that matter.
const CROWD: usize = 1 << 16;

/// What is known of the edges to shared blocks whose dominator has to be found.
#[derive(Debug, Default)]
pub(crate) struct Exits {
    /// Blocks of the dominating head's own tree, and the node of the core that they point to.
    pub(crate) pairs: Pairs,
    /// Nodes of the core that the dominating head itself points to.
    pub(crate) settled: Vec<u32>,
}

/// Finds for each head the block or holder that dominates it: blocks by number, holders from
/// `blocks` on, [`NONE`] where nothing does.
///
/// # Errors
/// If there is no room for what that takes.
pub(crate) fn refine(
    place: &Place,
    numbers: &Numbers,
    graph: &Csr,
    tree: &Tree,
    parents: &[u32],
    exits: Exits,
) -> io::Result<Column<u32>> {
    let blocks = parents.len() as u32;
    let holders = numbers.holders.len() as u32;
    let mut block_of: Column<u32> = place.zeros(numbers.heads.len())?;
    for (block, head) in block_of.iter_mut().zip(numbers.heads.bits().iter()) {
        *block = head;
    }
    let mut settled = Bits::new(numbers.len());
    for node in exits.settled {
        settled.insert(node);
    }
    // The coarse answer, which is the final one where a holder dominates or nothing needs settling.
    let mut dominator: Column<u32> = place.zeros(numbers.heads.len())?;
    for (dominator, above) in dominator.iter_mut().zip(&tree.idom[holders as usize..]) {
        *dominator = match *above {
            NONE => NONE,
            holder if holder < holders => blocks + holder,
            head => block_of[(head - holders) as usize],
        };
    }

    let mut pairs = exits.pairs.into_vec();
    pairs.retain(|(_, node)| !settled.contains(*node));
    pairs.sort_unstable_by_key(|(from, node)| (tree.idom[*node as usize], *node, *from));
    pairs.dedup();
    let mut siblings = siblings(place, numbers, graph, tree, &settled)?;
    siblings.sort_unstable_by_key(|(from, node)| (tree.idom[*node as usize], *node, *from));
    siblings.dedup();

    // Shared blocks that have to do with others of the same head. All others with a single exit to
    // them are dominated by that.
    let mut involved = Bits::new(numbers.len());
    for (from, node) in &siblings {
        involved.insert(*from);
        involved.insert(*node);
    }
    let mut small = Small::new(place, blocks);
    let mut siblings = siblings.as_slice();
    let mut rest_of_group: Vec<(u32, u32)> = Vec::new();
    for group in pairs.chunk_by(|a, b| tree.idom[a.1 as usize] == tree.idom[b.1 as usize]) {
        let head = tree.idom[group[0].1 as usize];
        let skipped = siblings.partition_point(|(_, node)| tree.idom[*node as usize] < head);
        let rest = &siblings[skipped..];
        let (mine, rest) =
            rest.split_at(rest.partition_point(|(_, node)| tree.idom[*node as usize] == head));
        siblings = rest;
        rest_of_group.clear();
        for exits in group.chunk_by(|a, b| a.1 == b.1) {
            match exits {
                [(from, node)] if !involved.contains(*node) => {
                    dominator[(*node - holders) as usize] = *from;
                }
                _ => rest_of_group.extend_from_slice(exits),
            }
        }
        if !rest_of_group.is_empty() {
            let head = block_of[(head - holders) as usize];
            let found = |node, above| dominator[(node - holders) as usize] = above;
            if rest_of_group.len() + mine.len() < CROWD {
                small.settle(head, &rest_of_group, mine, parents, found)?;
            } else {
                let nodes = numbers.len();
                crowd::settle(place, nodes, head, &rest_of_group, mine, parents, found)?;
            }
        }
    }
    Ok(dominator)
}

/// Edges from what a shared block dominates to another shared block, where both have the same
/// dominating head: as the two shared blocks.
fn siblings(
    place: &Place,
    numbers: &Numbers,
    graph: &Csr,
    tree: &Tree,
    settled: &Bits,
) -> io::Result<Vec<(u32, u32)>> {
    let edges = tree
        .order()
        .iter()
        .filter(|node| tree.idom[**node as usize] != NONE)
        .map(|node| (tree.idom[*node as usize], *node));
    let children = Csr::from_edges(place, graph.nodes(), &edges)?;
    let mut found = Vec::new();
    let mut depth: Column<u32> = place.zeros(graph.nodes())?;
    // The way down to where the walk is: node, next child.
    let mut way = vec![(0u32, children.starts[0])];
    while let Some((node, next)) = way.last_mut() {
        if *next == children.starts[*node as usize + 1] {
            way.pop();
            continue;
        }
        let child = children.targets[*next as usize];
        *next += 1;
        depth[child as usize] = way.len() as u32;
        way.push((child, children.starts[child as usize]));
        for to in graph.of(child) {
            let above = tree.idom[*to as usize];
            if above == child || above == NONE || numbers.is_holder(above) || settled.contains(*to)
            {
                continue;
            }
            let Some((branch, _)) = way.get(depth[above as usize] as usize + 1) else { continue };
            if branch != to {
                found.push((*branch, *to));
            }
        }
    }
    Ok(found)
}

/// A node of a small graph: a block of the tree, or a shared block that hangs from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Block(u32),
    Shared(u32),
}

/// Settles one head's shared blocks after the other.
struct Small {
    place: Place,
    /// Blocks on the way from an exit to the head, and those of them that the small graph has.
    passed: Bits,
    kept: Bits,
    ids: HashMap<Node, u32, FxBuildHasher>,
    nodes: Vec<Node>,
    edges: Vec<(u32, u32)>,
}

impl Small {
    fn new(place: &Place, blocks: u32) -> Self {
        Self {
            place: place.clone(),
            passed: Bits::new(blocks as usize),
            kept: Bits::new(blocks as usize),
            ids: HashMap::default(),
            nodes: Vec::new(),
            edges: Vec::new(),
        }
    }

    fn id(&mut self, node: Node) -> u32 {
        let next = self.nodes.len() as u32;
        let id = *self.ids.entry(node).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        id
    }

    fn settle(
        &mut self,
        head: u32,
        pairs: &[(u32, u32)],
        siblings: &[(u32, u32)],
        parents: &[u32],
        mut found: impl FnMut(u32, u32),
    ) -> io::Result<()> {
        // Clearing takes as long as the table is large: one that a large group left is given back.
        if self.ids.capacity() > 64 + 8 * pairs.len() {
            self.ids = HashMap::default();
        } else {
            self.ids.clear();
        }
        self.nodes.clear();
        self.edges.clear();
        self.id(Node::Block(head));
        for (exit, _) in pairs {
            self.climb(*exit, head, parents);
        }
        // Each kept block hangs from the nearest kept one above. What lies between two of them is
        // climbed over once, as it has no other kept block below.
        let mut next = 1;
        while let Some(Node::Block(block)) = self.nodes.get(next).copied() {
            let mut above = parents[block as usize];
            while above != head && above < SHARED && !self.kept.contains(above) {
                above = parents[above as usize];
            }
            let above = self.id(Node::Block(above));
            self.edges.push((above, next as u32));
            next += 1;
        }
        for (exit, node) in pairs {
            let edge = (self.id(Node::Block(*exit)), self.id(Node::Shared(*node)));
            self.edges.push(edge);
        }
        let mut from_head: Vec<u32> = Vec::new();
        for (from, node) in siblings {
            // One that is settled, or has no exits of its own but siblings', is there as well.
            let new = self.nodes.len();
            let edge = (self.id(Node::Shared(*from)), self.id(Node::Shared(*node)));
            if edge.0 as usize >= new {
                from_head.push(*from);
            }
            self.edges.push(edge);
        }
        // Whoever no edge leads to is one that the head points to by itself.
        let mut pointed = vec![false; self.nodes.len()];
        for (_, to) in &self.edges {
            pointed[*to as usize] = true;
        }
        for from in from_head {
            let id = self.id(Node::Shared(from));
            if !pointed[id as usize] {
                self.edges.push((0, id));
            }
        }
        let edges = self.edges.iter().copied();
        let graph = Csr::from_edges(&self.place, self.nodes.len(), &edges)?;
        let tree = dominators(&self.place, &graph, 0)?;
        for (node, above) in self.nodes.iter().zip(tree.idom.iter()) {
            if let Node::Shared(node) = node
                && *above != NONE
                && let Some(Node::Block(above)) = self.nodes.get(*above as usize)
                && pointed[self.ids[&Node::Shared(*node)] as usize]
            {
                found(*node, *above);
            }
        }
        Ok(())
    }

    /// Marks the way from an exit up to the head, and keeps the place where it meets another's.
    fn climb(&mut self, exit: u32, head: u32, parents: &[u32]) {
        if exit == head || !self.kept.insert(exit) {
            return;
        }
        self.id(Node::Block(exit));
        let mut at = exit;
        if !self.passed.insert(at) {
            return;
        }
        loop {
            at = parents[at as usize];
            if at == head || at >= SHARED {
                return;
            }
            if !self.passed.insert(at) {
                if self.kept.insert(at) {
                    self.id(Node::Block(at));
                }
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A tree of 30 blocks, exits to shared blocks, and edges among those.
        #[test]
        fn crowds_are_settled_as_few_are(
            above in proptest::collection::vec(any::<u32>(), 30),
            pairs in proptest::collection::vec((1u32..30, 0u32..12), 1..30),
            siblings in proptest::collection::vec((0u32..12, 0u32..12), 0..20),
        ) {
            let parents: Vec<u32> = (0..)
                .zip(&above)
                .map(|(block, above)| if block == 0 { SHARED } else { above % block })
                .collect();
            let siblings: Vec<_> = siblings.into_iter().filter(|(from, to)| from != to).collect();
            let (mut few, mut many) = (vec![NONE; 12], vec![NONE; 12]);
            Small::new(&Place::Memory, 30)
                .settle(0, &pairs, &siblings, &parents, |node, above| few[node as usize] = above)
                .unwrap();
            crowd::settle(&Place::Memory, 12, 0, &pairs, &siblings, &parents, |node, above| {
                many[node as usize] = above;
            })
            .unwrap();
            prop_assert_eq!(few, many);
        }
    }
}
