//! Dominators by the semi-NCA algorithm (Georgiadis, Tarjan, Werneck 2006), without recursion.

use std::io;

use super::bits::Bits;
use super::column::{Column, Place};
use super::csr::Csr;
use super::nodes::NO_BLOCK;

/// The dominator tree of what can be reached from one node.
#[derive(Debug)]
pub(crate) struct Tree {
    /// For each node its immediate dominator; [`NO_BLOCK`] for the root and what cannot be reached.
    pub(crate) idom: Column<u32>,
    order: Column<u32>,
    reached: usize,
}

/// Computes the dominators of everything that `root` reaches.
///
/// # Errors
/// If there is no room for it.
pub(crate) fn dominators(place: &Place, graph: &Csr, root: u32) -> io::Result<Tree> {
    let nodes = graph.nodes();
    let none = || place.column(nodes, || NO_BLOCK);
    // Numbers in the order of a depth-first search; all that follows is in them.
    let mut number = none()?;
    let mut order: Column<u32> = place.zeros(nodes)?;
    let mut parent: Column<u32> = place.zeros(nodes)?;
    // How often each is pointed to, tree edges left out.
    let mut starts: Column<u32> = place.zeros(nodes + 1)?;
    // For each node on the way down its next edge; the way back is by parents.
    let mut next: Column<u32> = place.zeros(nodes)?;
    number[root as usize] = 0;
    order[0] = root;
    next[0] = graph.starts[root as usize];
    let (mut reached, mut from) = (1usize, 0u32);
    loop {
        let edge = &mut next[from as usize];
        if *edge == graph.starts[order[from as usize] as usize + 1] {
            if from == 0 {
                break;
            }
            from = parent[from as usize];
            continue;
        }
        let to = graph.targets[*edge as usize];
        *edge += 1;
        let seen = number[to as usize];
        if seen == NO_BLOCK {
            let new = reached as u32;
            reached += 1;
            number[to as usize] = new;
            order[new as usize] = to;
            parent[new as usize] = from;
            next[new as usize] = graph.starts[to as usize];
            from = new;
        } else if seen != from {
            starts[seen as usize + 1] += 1;
        }
    }

    // Who points to each, tree edges and edges to oneself left out.
    for node in 0..reached {
        starts[node + 1] += starts[node];
    }
    let mut sources: Column<u32> = place.zeros(starts[reached] as usize)?;
    let mut is_tree = Bits::new(reached);
    for (from, node) in (0u32..).zip(&order[..reached]) {
        for to in graph.of(*node) {
            let to = number[*to as usize];
            if to == from {
                continue;
            }
            // The first edge that came to a node from its parent is the tree's.
            if parent[to as usize] == from && to != 0 && is_tree.insert(to) {
                continue;
            }
            let place = &mut starts[to as usize];
            sources[*place as usize] = from;
            *place += 1;
        }
    }
    drop(is_tree);
    starts.copy_within(..reached, 1);
    starts[0] = 0;

    // Semidominators, from the last to the first. `best` is the smallest one on the way up to
    // `ancestor`; it must not be mixed up with a node's own, which the second half needs.
    let mut ancestor = next;
    ancestor.copy_from_slice(&parent);
    let mut best: Column<u32> = place.zeros(nodes)?;
    for (node, best) in (0..).zip(best.iter_mut()) {
        *best = node;
    }
    // The numbers of nodes are done with.
    let mut semi = number;
    let mut path: Vec<u32> = Vec::new();
    for node in (1..reached as u32).rev() {
        let mut smallest = parent[node as usize];
        for source in &sources[starts[node as usize] as usize..starts[node as usize + 1] as usize] {
            let candidate = if *source <= node {
                *source
            } else {
                let mut at = *source;
                while ancestor[at as usize] > node {
                    path.push(at);
                    at = ancestor[at as usize];
                }
                let top = ancestor[at as usize];
                let mut least = best[at as usize];
                while let Some(below) = path.pop() {
                    let own = &mut best[below as usize];
                    least = least.min(*own);
                    *own = least;
                    ancestor[below as usize] = top;
                }
                least
            };
            smallest = smallest.min(candidate);
        }
        semi[node as usize] = smallest;
        best[node as usize] = smallest;
    }
    drop((ancestor, best, sources, starts));

    let mut idom = parent;
    for node in 1..reached {
        let mut dominator = idom[node];
        while dominator > semi[node] {
            dominator = idom[dominator as usize];
        }
        idom[node] = dominator;
    }
    // By node.
    let mut by_node = semi;
    by_node.fill(NO_BLOCK);
    for (node, dominator) in order[..reached].iter().zip(&idom[..reached]).skip(1) {
        by_node[*node as usize] = order[*dominator as usize];
    }
    Ok(Tree { idom: by_node, order, reached })
}

impl Tree {
    /// What can be reached, in the order of a depth-first search: dominators before what they
    /// dominate.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order[..self.reached]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What cannot be reached any more without `without`.
    fn reach(graph: &Csr, without: Option<u32>) -> Vec<bool> {
        let mut seen = vec![false; graph.nodes()];
        let mut todo = vec![0u32];
        while let Some(node) = todo.pop() {
            if Some(node) == without || std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            todo.extend(graph.of(node));
        }
        seen
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 2_000 } else { 100_000 }))]

        /// A dominator is what cannot be done without: by removing each node in turn.
        #[test]
        fn agrees_with_removal(nodes in 1u32..12, edges in proptest::collection::vec((0u32..12, 0u32..12), 0..30)) {
            let edges: Vec<_> = edges.into_iter().map(|(a, b)| (a % nodes, b % nodes)).collect();
            let graph =
                Csr::from_edges(&Place::Memory, nodes as usize, &edges.iter().copied()).unwrap();
            let tree = dominators(&Place::Memory, &graph, 0).unwrap();
            let all = reach(&graph, None);
            for node in 0..nodes {
                let mut mine = Vec::new();
                let mut at = tree.idom[node as usize];
                while at != NO_BLOCK {
                    mine.push(at);
                    at = tree.idom[at as usize];
                }
                mine.sort_unstable();
                let truth: Vec<u32> = (0..nodes)
                    .filter(|other| *other != node && all[node as usize] && !reach(&graph, Some(*other))[node as usize])
                    .collect();
                prop_assert_eq!(mine, truth, "of {} in {:?}", node, edges);
            }
            prop_assert_eq!(tree.order().len(), all.iter().filter(|reached| **reached).count());
        }
    }

    /// Numbers that look random and are always the same.
    fn random(state: &mut u64, below: u32) -> u32 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (((*state >> 32) * u64::from(below)) >> 32) as u32
    }

    #[test]
    fn agrees_with_petgraph_on_a_large_graph() {
        let nodes = 200_000u32;
        let mut state = 0x9e37_79b9_7f4a_7c15;
        let mut edges: Vec<(u32, u32)> =
            (1..nodes).map(|node| (node - 1 - random(&mut state, node.min(1000)), node)).collect();
        edges
            .extend((0..nodes / 2).map(|_| (random(&mut state, nodes), random(&mut state, nodes))));
        let mine = dominators(
            &Place::Memory,
            &Csr::from_edges(&Place::Memory, nodes as usize, &edges.iter().copied()).unwrap(),
            0,
        )
        .unwrap();
        let graph = petgraph::graph::DiGraph::<(), (), u32>::from_edges(edges);
        let theirs = petgraph::algo::dominators::simple_fast(&graph, 0.into());
        for node in 0..nodes {
            let dominator = theirs
                .immediate_dominator(node.into())
                .map_or(NO_BLOCK, |node| node.index() as u32);
            assert_eq!(mine.idom[node as usize], dominator, "of {node}");
        }
    }

    /// A list of a million cells, each also pointed to from the one before the last: no recursion.
    #[test]
    fn long_chains_are_ordinary() {
        let nodes = 1_000_000u32;
        let edges: Vec<(u32, u32)> = (1..nodes)
            .flat_map(|node| [(node - 1, node), (node.saturating_sub(2), node)])
            .collect();
        let tree = dominators(
            &Place::Memory,
            &Csr::from_edges(&Place::Memory, nodes as usize, &edges.iter().copied()).unwrap(),
            0,
        )
        .unwrap();
        assert!(tree.idom[1..].iter().all(|dominator| *dominator == 0));
        let list: Vec<(u32, u32)> = (1..nodes).map(|node| (node - 1, node)).collect();
        let tree = dominators(
            &Place::Memory,
            &Csr::from_edges(&Place::Memory, nodes as usize, &list.iter().copied()).unwrap(),
            0,
        )
        .unwrap();
        assert!((1..nodes).all(|node| tree.idom[node as usize] == node - 1));
    }
}
