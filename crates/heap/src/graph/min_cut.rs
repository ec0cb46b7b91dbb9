//! The fewest references that have to be removed for a block to be freed.
//!
//! By augmenting paths (Ford and Fulkerson) on the graph of the blocks, in which each reference from a block or root to
//! another block can carry one path, and so can each root. Searches go from the block upwards, as what leads to it is
//! a small part of a heap. Once no path can be added, each path leads over one reference of a smallest cut. Of
//! several such cuts it is the one nearest to the roots: its references leave what the roots still reach.

use std::io;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::analysis::Graph;
use super::bits::Bits;
use super::column::{Column, Place};
use super::nodes::{NO_BLOCK, RootNodeId};
use super::references::References;
use crate::units::BlockIndex;

/// A reference that has to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CutEdge {
    /// All that a root holds: a variable gets another value.
    Root(RootNodeId),
    /// What a root, among other things, refers to.
    FromRoot(RootNodeId, BlockIndex),
    /// That from one block to another.
    Field(BlockIndex, BlockIndex),
}

/// Paths that share no reference, from roots and static data to a block.
#[derive(Clone, Default)]
struct Flow {
    /// What the paths lead on to, from each block and root that they lead over.
    onward: HashMap<u32, Vec<u32>, FxBuildHasher>,
    /// Where they start.
    starts: Vec<u32>,
}

impl Flow {
    fn onward(&self, from: u32) -> &[u32] {
        self.onward.get(&from).map_or(&[], Vec::as_slice)
    }

    /// Takes a reference away from the paths; whether they led over it.
    fn take(&mut self, from: u32, to: u32) -> bool {
        let Some(onward) = self.onward.get_mut(&from) else { return false };
        let place = onward.iter().position(|one| *one == to);
        place.map(|place| onward.remove(place)).is_some()
    }

    /// The paths one by one, from where they start to the block.
    fn into_paths(mut self) -> Vec<Vec<u32>> {
        let path = |start: &u32| {
            let mut path = vec![*start];
            let mut at = *start;
            while let Some(onward) = self.onward.get_mut(&at).filter(|onward| !onward.is_empty()) {
                at = onward.remove(0);
                path.push(at);
            }
            path
        };
        self.starts.iter().map(path).collect()
    }
}

/// A search for what leads to blocks, upwards.
#[derive(Debug)]
pub(crate) struct Upwards<'g> {
    graph: &'g Graph,
    references: References,
    /// By number of a block or root, what the search came to it from; [`NO_BLOCK`] where it did not come.
    toward: Column<u32>,
    /// Where it came, in order.
    visited: Vec<u32>,
}

impl<'g> Upwards<'g> {
    /// A search with its column at a place.
    ///
    /// # Errors
    /// If there is no room for it.
    pub(crate) fn new(place: &Place, graph: &'g Graph, references: References) -> io::Result<Self> {
        let count = graph.dominators.len() + graph.root_nodes.len();
        let toward = place.column(count, || NO_BLOCK)?;
        Ok(Self { graph, references, toward, visited: Vec::new() })
    }

    /// The roots that reach a block, the nearest first. The root of static data is its owner.
    pub(crate) fn roots(&mut self, block: BlockIndex) -> Vec<RootNodeId> {
        self.start(block.0);
        let mut roots: Vec<RootNodeId> = Vec::new();
        let (mut next, mut end, mut sorted) = (0, 1, 0);
        while let Some(at) = self.visited.get(next).copied() {
            if next == end {
                // Of those that are equally near, the first is the one that was linked first.
                roots[sorted..].sort_unstable();
                (end, sorted) = (self.visited.len(), roots.len());
            }
            next += 1;
            match self.root(at) {
                Some(root) => roots.push(root),
                None if self.graph.is_static(at) => {
                    roots.extend(self.graph.owner(BlockIndex(at)));
                }
                None => {
                    for from in self.graph.referring(&self.references, at) {
                        visit(&mut self.toward, &mut self.visited, *from, at);
                    }
                }
            }
        }
        roots[sorted..].sort_unstable();
        let mut known = HashSet::<RootNodeId, FxBuildHasher>::default();
        roots.retain(|root| known.insert(*root));
        roots
    }

    /// The fewest references without which nothing retains a block, in order; `None` if there are more than `most`,
    /// or none: what is unreachable, or static.
    pub(crate) fn min_cut(&mut self, block: BlockIndex, most: usize) -> Option<Vec<CutEdge>> {
        if !self.graph.is_reachable(block) || self.graph.is_static(block.0) {
            return None;
        }
        let mut flow = Flow::default();
        while self.add_path(block.0, &mut flow) {
            if flow.starts.len() > most {
                return None;
            }
        }
        let paths = flow.clone().into_paths();
        let mut unreached = Bits::new(self.toward.len());
        let mut cut = Vec::new();
        for path in paths {
            // The roots reach the first nodes of a path, and none behind them.
            let (mut reached, mut end) = (0, path.len());
            while reached < end {
                // Most cuts are at the root.
                let middle = if reached == 0 && end == path.len() {
                    0
                } else {
                    usize::midpoint(reached, end)
                };
                if self.is_reached(path[middle], &flow, &mut unreached) {
                    reached = middle + 1;
                } else {
                    end = middle;
                }
            }
            let from = reached.checked_sub(1).and_then(|place| path.get(place));
            let Some(to) = path.get(reached) else { continue };
            cut.push(match (from.map(|from| (*from, self.root(*from))), self.root(*to)) {
                (None, Some(root)) => CutEdge::Root(root),
                (Some((_, Some(root))), _) => CutEdge::FromRoot(root, BlockIndex(*to)),
                (Some((from, None)), _) => CutEdge::Field(BlockIndex(from), BlockIndex(*to)),
                (None, None) => continue,
            });
        }
        cut.sort_unstable();
        Some(cut)
    }

    /// Adds a path to a flow, for which others may be led over other references; whether there is one.
    fn add_path(&mut self, target: u32, flow: &mut Flow) -> bool {
        let Some(start) = self.search(target, flow, None) else { return false };
        let mut at = start;
        while at != target {
            let next = self.toward[at as usize];
            if !flow.take(next, at) {
                flow.onward.entry(at).or_default().push(next);
            }
            at = next;
        }
        flow.starts.push(start);
        true
    }

    /// Whether a path could still be led from a root to a node. `unreached` is known of others, and learns from it.
    fn is_reached(&mut self, node: u32, flow: &Flow, unreached: &mut Bits) -> bool {
        if unreached.contains(node) {
            return false;
        }
        let is_reached = self.search(node, flow, Some(unreached)).is_some();
        if !is_reached {
            for node in &self.visited {
                unreached.insert(*node);
            }
        }
        is_reached
    }

    /// Looks upwards from a node for a root or static block from which a path could be led to it. `avoid` is what
    /// has none.
    fn search(&mut self, node: u32, flow: &Flow, avoid: Option<&Bits>) -> Option<u32> {
        self.start(node);
        let mut next = 0;
        while let Some(at) = self.visited.get(next).copied() {
            next += 1;
            let is_start = match self.root(at) {
                Some(_) => !flow.starts.contains(&at),
                None => self.graph.is_static(at),
            };
            if is_start {
                return Some(at);
            }
            // References that carry no path, and those that carry one, against their direction.
            let free = self.graph.referring(&self.references, at).iter();
            let free = free.filter(|from| !flow.onward(**from).contains(&at));
            for from in free.chain(flow.onward(at)) {
                if avoid.is_none_or(|avoid| !avoid.contains(*from)) {
                    visit(&mut self.toward, &mut self.visited, *from, at);
                }
            }
        }
        None
    }

    /// Forgets the last search, and begins one.
    fn start(&mut self, node: u32) {
        for node in self.visited.drain(..) {
            self.toward[node as usize] = NO_BLOCK;
        }
        visit(&mut self.toward, &mut self.visited, node, node);
    }

    /// The root that a number stands for.
    fn root(&self, number: u32) -> Option<RootNodeId> {
        number.checked_sub(self.graph.dominators.len() as u32).map(RootNodeId)
    }
}

/// Comes to a node from another, unless the search has been there.
fn visit(toward: &mut [u32], visited: &mut Vec<u32>, node: u32, from: u32) {
    if let Some(known) = toward.get_mut(node as usize)
        && *known == NO_BLOCK
    {
        *known = from;
        visited.push(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Heap, Made, Value};
    use crate::read::{Snapshot, Strength};
    use crate::space::Space;
    use crate::{LabelId, LabelRole, RootKind};
    use proptest::prelude::*;

    type Edges = Vec<(usize, usize)>;

    /// A small heap: references between blocks, what roots hold, which blocks are static.
    #[derive(Clone, Debug)]
    struct Small {
        count: usize,
        blocks: Edges,
        roots: Edges,
        statics: Vec<usize>,
    }

    const ROOTS: usize = 3;

    impl Small {
        fn bytes(&self) -> Vec<u8> {
            let mut heap = Heap::new();
            for block in 0..self.count {
                let targets = self.blocks.iter().filter(|(from, _)| *from == block);
                let fields = targets.map(|(_, to)| Value::Block(Made(*to)));
                let fields: Vec<Value> = fields.chain([Value::Int(0)]).collect();
                let is_static = self.statics.contains(&block);
                heap.block_in(if is_static { Space::Static } else { Space::Major }, 0, &fields);
            }
            for _ in 0..ROOTS {
                heap.labels.add(None, RootKind::GlobalC, LabelRole::Symbol, b"root", b"", 0);
            }
            for (label, to) in &self.roots {
                let label = LabelId(*label as u32);
                heap.root_at(label, Value::Block(Made(*to)), Strength::Strong, None);
            }
            heap.bytes()
        }

        /// All that can be cut: roots, what they hold, and references between blocks.
        fn edges(&self) -> Vec<Edge> {
            let mut edges: Vec<Edge> =
                self.roots.iter().map(|(root, _)| Edge::Root(*root)).collect();
            edges.extend(self.roots.iter().map(|(root, to)| Edge::FromRoot(*root, *to)));
            edges.extend(self.blocks.iter().map(|(from, to)| Edge::Field(*from, *to)));
            edges.sort_unstable();
            edges.dedup();
            edges
        }

        /// What roots and static data reach without some edges.
        fn reached(&self, without: &[Edge]) -> Vec<bool> {
            let is_there = |edge: Edge| !without.contains(&edge);
            let held = self.roots.iter().filter(|(root, to)| {
                is_there(Edge::Root(*root)) && is_there(Edge::FromRoot(*root, *to))
            });
            let mut todo: Vec<usize> =
                held.map(|(_, to)| *to).chain(self.statics.clone()).collect();
            let mut seen = vec![false; self.count];
            while let Some(block) = todo.pop() {
                if !std::mem::replace(&mut seen[block], true) {
                    let from_here = self.blocks.iter().filter(|(from, _)| *from == block);
                    let left = from_here.filter(|(from, to)| is_there(Edge::Field(*from, *to)));
                    todo.extend(left.map(|(_, to)| *to));
                }
            }
            seen
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Edge {
        Root(usize),
        FromRoot(usize, usize),
        Field(usize, usize),
    }

    /// All ways to take so many of some edges.
    fn choices(edges: &[Edge], size: usize) -> impl Iterator<Item = Vec<Edge>> {
        let first = (1u64 << size) - 1;
        let all = std::iter::successors(Some(first), |mask| {
            // The next larger number with as many bits.
            let low = mask & mask.wrapping_neg();
            let high = mask.checked_add(low).filter(|_| *mask != 0)?;
            Some(high | ((mask ^ high) / low) >> 2)
        });
        let end = 1u64 << edges.len();
        all.take_while(move |mask| *mask < end).map(|mask| {
            let is_taken = |place: &usize| mask >> place & 1 == 1;
            (0..edges.len()).filter(is_taken).map(|place| edges[place]).collect()
        })
    }

    fn small() -> impl Strategy<Value = Small> {
        let edges = |from, most| proptest::collection::vec((0..from, 0usize..7), 1..most);
        (2usize..7, edges(7, 14), edges(ROOTS, 6), 0usize..12).prop_map(
            |(count, blocks, roots, is_static)| {
                let roots: Edges = roots.into_iter().map(|(root, to)| (root, to % count)).collect();
                Small {
                    count,
                    blocks: blocks
                        .into_iter()
                        .map(|(from, to)| (from % count, to % count))
                        .collect(),
                    // Only static data that something refers to is in a snapshot.
                    statics: roots.get(is_static).map(|(_, to)| *to).into_iter().collect(),
                    roots,
                }
            },
        )
    }

    /// The number of each block in the snapshot.
    fn numbers(small: &Small) -> Vec<u32> {
        let is_static = |block: &usize| small.statics.contains(block);
        let mut order: Vec<usize> = (0..small.count).collect();
        order.sort_by_key(|block| !is_static(block));
        (0..small.count)
            .map(|block| order.iter().position(|one| *one == block).unwrap() as u32)
            .collect()
    }

    fn check(small: &Small) -> Result<(), TestCaseError> {
        let bytes = small.bytes();
        let snapshot = Snapshot::read(&bytes).unwrap();
        let graph = Graph::new(&snapshot, 1).unwrap();
        let number = numbers(small);
        let edges = small.edges();
        let reached = small.reached(&[]);
        let references = graph.references(&Place::Memory, &snapshot, 2).unwrap();
        let mut upwards = Upwards::new(&Place::Memory, &graph, references).unwrap();
        for target in 0..small.count {
            let block = BlockIndex(number[target]);
            let cut = upwards.min_cut(block, 64);
            if !reached[target] || small.statics.contains(&target) {
                prop_assert_eq!(cut, None);
                continue;
            }
            let cut = cut.unwrap();
            let made = |block: BlockIndex| number.iter().position(|one| *one == block.0).unwrap();
            let root = |id: RootNodeId| {
                (0..ROOTS)
                    .find(|root| graph.root_nodes().label(LabelId(*root as u32)) == id)
                    .unwrap()
            };
            let edge = |edge: &CutEdge| match *edge {
                CutEdge::Root(id) => Edge::Root(root(id)),
                CutEdge::FromRoot(id, to) => Edge::FromRoot(root(id), made(to)),
                CutEdge::Field(from, to) => Edge::Field(made(from), made(to)),
            };
            let edges_of_cut: Vec<Edge> = cut.iter().map(edge).collect();
            let left = small.reached(&edges_of_cut);
            prop_assert!(!left[target], "{:?} does not free {}", edges_of_cut, target);
            prop_assert!(
                edges_of_cut.iter().all(|edge| edges.contains(edge)),
                "{:?}",
                edges_of_cut
            );
            if let Some(fewer) = cut.len().checked_sub(1) {
                let smaller = choices(&edges, fewer).find(|cut| !small.reached(cut)[target]);
                prop_assert_eq!(smaller, None, "is smaller than {:?}", edges_of_cut);
            }
            // Of all that are as small, the roots reach least beside it.
            for other in choices(&edges, cut.len()) {
                let others = small.reached(&other);
                if !others[target] {
                    let is_within = left.iter().zip(&others).all(|(here, there)| !here || *there);
                    prop_assert!(is_within, "{:?} is nearer than {:?}", other, edges_of_cut);
                }
            }
            if cut.len() > 1 {
                prop_assert_eq!(upwards.min_cut(block, cut.len() - 1), None);
            }
            let is_static = |block: &usize| small.statics.contains(block);
            let reaches = |root: &usize| {
                let held = small.roots.iter().filter(|(one, _)| one == root);
                let counted = small.blocks.iter().filter(|(from, _)| !is_static(from));
                let alone = Small {
                    roots: held.copied().collect(),
                    blocks: counted.copied().collect(),
                    statics: Vec::new(),
                    ..small.clone()
                };
                alone.reached(&[])[target]
            };
            let roots: Vec<usize> = (0..ROOTS).filter(reaches).collect();
            let mut found: Vec<usize> = upwards
                .roots(block)
                .into_iter()
                .filter_map(|id| {
                    (0..ROOTS).find(|root| graph.root_nodes().label(LabelId(*root as u32)) == id)
                })
                .collect();
            found.sort_unstable();
            prop_assert!(
                roots.iter().all(|root| found.contains(root)),
                "{:?} of {:?}",
                found,
                roots
            );
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 200 } else { 5_000 }))]

        #[test]
        fn cuts_are_the_smallest_and_nearest_to_the_roots(small in small()) {
            check(&small)?;
        }
    }
}
