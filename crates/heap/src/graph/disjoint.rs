//! Ways from the roots to a block that share no other block: as many as there are.
//!
//! By augmenting paths (Ford and Fulkerson; Menger's theorem) on the core of the graph. A tree of
//! blocks with a single parent is entered at its top alone, so two ways share a block exactly if
//! they share a node of the core that is no root node.

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::analysis::Graph;
use super::bits::Bits;
use super::core::Conditional;
use super::nodes::{NO_BLOCK, Node, RootNodeId};
use super::passes::sweep;
use crate::read::{Detail, Error, Snapshot};
use crate::units::BlockIndex;

/// A way from a block up to a root node.
#[derive(Clone, Debug)]
pub(crate) struct PathEdges {
    /// Blocks that point from one tree of blocks to the next one's top, from below.
    cross_edges: Vec<u32>,
    /// What points to the last tree's top.
    root_node: RootNodeId,
}

/// Nodes on the ways that are found, and the one before each.
#[derive(Debug, Default)]
struct Flow {
    before: HashMap<u32, u32, FxBuildHasher>,
    /// The last nodes before the target.
    last: Vec<u32>,
}

/// In a state of the search: at a node that a way leads over, on the side where that comes in.
/// Without it: on the side that edges leave from.
const IN: u32 = 1 << 31;

impl Graph {
    /// At most `most` disjoint paths to a block: they have root nodes and the block in common, and
    /// whether there are no more. `None` where the one of [`Graph::toward_root`] is the only one.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub(crate) fn disjoint(
        &self,
        snapshot: &Snapshot<'_>,
        block: BlockIndex,
        most: usize,
        threads: usize,
    ) -> Result<Option<(Vec<PathEdges>, bool)>, Error> {
        // All ways to what a block dominates share that block.
        if !matches!(self.dominator(Node::Block(block)), Some(Node::RootNode(_))) {
            return Ok(None);
        }
        let target = self.node_of_tree_root(block.0);
        let mut flow = Flow::default();
        let mut more = true;
        while more && flow.last.len() < most.max(1) {
            more = self.augment(target, &mut flow);
        }
        Ok(Some((self.edges(snapshot, target, &flow, threads)?, !more)))
    }

    /// The nodes of a way, from the block up to the root node that it starts at.
    pub(crate) fn along<'g>(
        &'g self,
        block: BlockIndex,
        edges: &'g PathEdges,
    ) -> impl Iterator<Item = Node> + 'g {
        let mut cross_edges = edges.cross_edges.iter();
        let mut next = Some(Node::Block(block));
        std::iter::from_fn(move || {
            let node = next?;
            next = match node {
                Node::RootNode(_) => None,
                Node::Block(block) if self.tree_roots.contains(block.0) => {
                    Some(cross_edges.next().map_or(Node::RootNode(edges.root_node), |exit| {
                        Node::Block(BlockIndex(*exit))
                    }))
                }
                Node::Block(_) => self.dominator(node),
            };
            Some(node)
        })
    }

    fn is_root_node(&self, node: u32) -> bool {
        (node as usize) < self.root_nodes.len()
    }

    /// Looks for one way more, for which others may be led over other nodes; says whether there is
    /// one.
    fn augment(&self, target: u32, flow: &mut Flow) -> bool {
        // By state, what it was come to from: itself for those that are started at.
        let nodes = self.core.nodes();
        let mut came = [vec![NO_BLOCK; nodes], vec![NO_BLOCK; nodes]];
        // Any number of ways may lead over a root node.
        let mut queue: VecDeque<u32> = (0..self.root_nodes.len() as u32).collect();
        for root_node in &queue {
            came[0][*root_node as usize] = *root_node;
        }
        let mut end = None;
        'search: while let Some(state) = queue.pop_front() {
            let node = state & !IN;
            let mut visit = |to: u32| {
                let from = &mut came[usize::from(to & IN != 0)][(to & !IN) as usize];
                if *from == NO_BLOCK {
                    *from = state;
                    queue.push_back(to);
                }
            };
            let before = flow.before.get(&node).copied();
            if state & IN != 0 {
                // The way that came in here is taken back to the node before, and goes on elsewhere.
                before.into_iter().for_each(&mut visit);
                continue;
            }
            if before.is_some() {
                visit(node | IN);
            }
            for to in self.core.of(node) {
                if *to == target {
                    if !flow.last.contains(&node) {
                        end = Some(state);
                        break 'search;
                    }
                } else if !self.is_root_node(*to) && *to != node {
                    match flow.before.get(to) {
                        None => visit(*to),
                        Some(before) if *before != node => visit(*to | IN),
                        Some(_) => {}
                    }
                }
            }
        }
        let Some(mut state) = end else { return false };
        flow.last.push(state);
        loop {
            let node = state & !IN;
            let from = came[usize::from(state & IN != 0)][node as usize];
            if from == state {
                return true;
            }
            if from == node {
                // Left on the side where it was entered: nothing leads over it any more.
                flow.before.remove(&node);
            } else if from & IN == 0 {
                flow.before.insert(node, from);
            }
            state = from;
        }
    }

    /// The ways that lead to a target, in blocks.
    fn edges(
        &self,
        snapshot: &Snapshot<'_>,
        target: u32,
        flow: &Flow,
        threads: usize,
    ) -> Result<Vec<PathEdges>, Error> {
        let mut chains: Vec<Vec<u32>> = Vec::new();
        for last in &flow.last {
            let mut chain = vec![target, *last];
            let mut at = *last;
            while let Some(before) = flow.before.get(&at) {
                at = *before;
                chain.push(at);
            }
            chains.push(chain);
        }
        let wanted = |chain: &Vec<u32>| -> Vec<(u32, u32)> {
            chain
                .windows(2)
                .filter(|two| !self.is_root_node(two[1]))
                .map(|two| (two[1], two[0]))
                .collect()
        };
        let cross_edges = self.cross_edges(snapshot, chains.iter().flat_map(wanted), threads)?;
        Ok(chains
            .iter()
            .map(|chain| PathEdges {
                cross_edges: wanted(chain)
                    .iter()
                    .filter_map(|edge| cross_edges.get(edge).copied())
                    .collect(),
                root_node: RootNodeId(chain.last().copied().unwrap_or_default()),
            })
            .collect())
    }

    /// For each of some edges of the core a block that it comes from.
    fn cross_edges(
        &self,
        snapshot: &Snapshot<'_>,
        edges: impl Iterator<Item = (u32, u32)>,
        threads: usize,
    ) -> Result<HashMap<(u32, u32), u32, FxBuildHasher>, Error> {
        let blocks = self.dominators.len() as u32;
        let mut found = HashMap::default();
        let mut wanted: HashMap<u32, Vec<u32>, FxBuildHasher> = HashMap::default();
        for (from, to) in edges {
            let conditional = |edge: &&Conditional| (edge.node, edge.to) == (from, to);
            // No block leads to a root, but in a damaged snapshot.
            let Some(place) = to.checked_sub(self.root_nodes.len() as u32) else { continue };
            let predecessor = self.predecessor[place as usize];
            if predecessor < blocks && self.core_node(predecessor) == Some(from) {
                found.insert((from, to), predecessor);
            } else if let Some(edge) = self.conditional.iter().find(conditional) {
                found.insert((from, to), edge.from);
            } else if let Some(tree_root) = self.tree_roots.select(place) {
                wanted.entry(tree_root).or_default().push(from);
            }
        }
        if wanted.is_empty() {
            return Ok(found);
        }
        let mut pointed = Bits::new(self.dominators.len());
        for tree_root in wanted.keys() {
            pointed.insert(*tree_root);
        }
        let candidates =
            sweep(snapshot, threads, Detail::Edges, Vec::new, |candidates, _, columns| {
                if columns.edges().iter().any(|to| pointed.contains(*to)) {
                    for block in columns.iter() {
                        let to = block.targets.iter().filter(|to| pointed.contains(**to));
                        candidates.extend(to.map(|to| (block.index.0, *to)));
                    }
                }
            })?;
        let candidates = candidates.concat();
        // Many long ways up are shortened first.
        let tops = if candidates.len() > 8 { self.tops(|_| false, threads) } else { Vec::new() };
        for (block, tree_root) in candidates {
            if !self.is_reachable(BlockIndex(block)) {
                continue;
            }
            let top = tops.get(block as usize).copied().filter(|top| *top < blocks);
            let Some(from) = self.core_node(top.unwrap_or(block)) else { continue };
            if wanted.get(&tree_root).is_some_and(|wanted| wanted.contains(&from)) {
                found.entry((from, self.node_of_tree_root(tree_root))).or_insert(block);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Heap, Made, Value};
    use crate::read::Strength;
    use crate::{LabelId, LabelRole, RootKind};
    use proptest::prelude::*;

    type Edges = Vec<(usize, usize)>;

    /// Whether a root reaches the target without some blocks and without the roots' own links to it.
    fn reaches(blocks: &Edges, roots: &Edges, target: usize, without: u32) -> bool {
        let mut seen = without;
        let mut todo: Vec<usize> =
            roots.iter().map(|(_, to)| *to).filter(|to| *to != target).collect();
        while let Some(block) = todo.pop() {
            if seen >> block & 1 == 0 {
                seen |= 1 << block;
                todo.extend(blocks.iter().filter(|(from, _)| *from == block).map(|(_, to)| *to));
            }
        }
        seen & !without & 1 << target != 0
    }

    /// By Menger's theorem: how few blocks have to be taken away until no way is left.
    fn fewest(count: usize, blocks: &Edges, roots: &Edges, target: usize) -> usize {
        let mut direct: Vec<_> = roots.iter().filter(|(_, to)| *to == target).collect();
        direct.sort_unstable();
        direct.dedup();
        let cuts = (0u32..1 << count)
            .filter(|without| without >> target & 1 == 0)
            .filter(|without| !reaches(blocks, roots, target, *without));
        direct.len() + cuts.map(|cut| cut.count_ones() as usize).min().unwrap_or(0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 20_000 }))]

        #[test]
        fn there_are_as_many_ways_as_blocks_have_to_be_cut(
            count in 2usize..9,
            blocks in proptest::collection::vec((0usize..9, 0usize..9), 0..30),
            roots in proptest::collection::vec((0usize..3, 0usize..9), 1..6),
        ) {
            let within = |edges: Edges| -> Edges {
                edges.into_iter().map(|(from, to)| (from % count, to % count)).collect()
            };
            let blocks = within(blocks);
            let roots: Edges = roots.into_iter().map(|(label, to)| (label, to % count)).collect();
            let mut heap = Heap::new();
            for block in 0..count {
                let fields: Vec<Value> = blocks
                    .iter()
                    .filter(|(from, _)| *from == block)
                    .map(|(_, to)| Value::Block(Made(*to)))
                    .chain([Value::Int(0)])
                    .collect();
                heap.block(0, &fields);
            }
            for _ in 0..3 {
                heap.labels.add(None, RootKind::GlobalC, LabelRole::Symbol, b"root", b"", 0);
            }
            for (label, to) in &roots {
                let label = LabelId(*label as u32);
                heap.root_at(label, Value::Block(Made(*to)), Strength::Strong, None);
            }
            let bytes = heap.bytes();
            let snapshot = Snapshot::read(&bytes).unwrap();
            let graph = Graph::new(&snapshot, 1).unwrap();
            for target in 0..count {
                let block = BlockIndex(target as u32);
                let most = fewest(count, &blocks, &roots, target);
                let Some((ways, all)) = graph.disjoint(&snapshot, block, 20, 2).unwrap() else {
                    prop_assert!(most <= 1);
                    continue;
                };
                prop_assert!(all);
                prop_assert_eq!(ways.len(), most);
                let mut passed = Vec::new();
                for way in &ways {
                    let nodes: Vec<Node> = graph.along(block, way).collect();
                    for two in nodes.windows(2) {
                        let (Node::Block(below), above) = (two[0], two[1]) else { panic!("{nodes:?}") };
                        let below = below.0 as usize;
                        match above {
                            Node::Block(above) => {
                                prop_assert!(blocks.contains(&(above.0 as usize, below)));
                                passed.push(above);
                            }
                            Node::RootNode(root_node) => {
                                let is = |label: &usize| graph.root_nodes().label(LabelId(*label as u32)) == root_node;
                                prop_assert!(roots.iter().any(|(label, to)| is(label) && *to == below));
                            }
                        }
                    }
                }
                let passages = passed.len();
                passed.sort_unstable();
                passed.dedup();
                prop_assert_eq!(passed.len(), passages, "a block on two ways");
                prop_assert!(!passed.contains(&block));
            }
        }
    }
}
