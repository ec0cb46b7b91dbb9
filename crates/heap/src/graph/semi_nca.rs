//! Dominators by the semi-NCA algorithm (Georgiadis, Tarjan, Werneck 2006), without recursion.

use super::NONE;
use super::csr::Csr;

/// The dominator tree of what can be reached from one node.
#[derive(Debug)]
pub(crate) struct Tree {
    /// For each node its immediate dominator; [`NONE`] for the root and what cannot be reached.
    pub(crate) idom: Vec<u32>,
    /// What can be reached, in the order of a depth-first search: dominators before what they
    /// dominate.
    pub(crate) order: Vec<u32>,
}

/// Computes the dominators of everything that `root` reaches.
pub(crate) fn dominators(graph: &Csr, root: u32) -> Tree {
    let nodes = graph.nodes();
    // Numbers in the order of a depth-first search; all that follows is in them.
    let mut number = vec![NONE; nodes];
    let mut order: Vec<u32> = Vec::new();
    let mut parent: Vec<u32> = Vec::new();
    let mut stack: Vec<(u32, u32)> = Vec::new();
    number[root as usize] = 0;
    order.push(root);
    parent.push(0);
    stack.push((0, graph.starts[root as usize]));
    // How often each is pointed to, tree edges left out.
    let mut starts: Vec<u32> = vec![0, 0];
    while let Some((from, next)) = stack.last_mut() {
        if *next == graph.starts[order[*from as usize] as usize + 1] {
            stack.pop();
            continue;
        }
        let to = graph.targets[*next as usize];
        *next += 1;
        let from = *from;
        let seen = number[to as usize];
        if seen == NONE {
            let new = order.len() as u32;
            number[to as usize] = new;
            order.push(to);
            parent.push(from);
            starts.push(0);
            stack.push((new, graph.starts[to as usize]));
        } else if seen != from {
            starts[seen as usize + 1] += 1;
        }
    }
    drop(stack);

    // Who points to each, tree edges and edges to oneself left out.
    let reached = order.len();
    for node in 0..reached {
        starts[node + 1] += starts[node];
    }
    let mut sources = vec![0u32; starts[reached] as usize];
    let mut is_tree: Vec<bool> = vec![false; reached];
    for (from, node) in (0u32..).zip(&order) {
        for to in graph.of(*node) {
            let to = number[*to as usize];
            if to == from {
                continue;
            }
            // The first edge that came to a node from its parent is the tree's.
            if parent[to as usize] == from && to != 0 && !is_tree[to as usize] {
                is_tree[to as usize] = true;
                continue;
            }
            let place = &mut starts[to as usize];
            sources[*place as usize] = from;
            *place += 1;
        }
    }
    drop((number, is_tree));
    starts.copy_within(..reached, 1);
    starts[0] = 0;

    // Semidominators, from the last to the first. `best` is the smallest one on the way up to
    // `ancestor`; it must not be mixed up with a node's own, which the second half needs.
    let mut ancestor = parent.clone();
    let mut best: Vec<u32> = (0..reached as u32).collect();
    let mut semi = vec![0u32; reached];
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
    drop(semi);
    let mut by_node = vec![NONE; nodes];
    for (node, dominator) in order.iter().zip(&idom).skip(1) {
        by_node[*node as usize] = order[*dominator as usize];
    }
    Tree { idom: by_node, order }
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
            let graph = Csr::from_edges(nodes as usize, &edges.iter().copied());
            let tree = dominators(&graph, 0);
            let all = reach(&graph, None);
            for node in 0..nodes {
                let mut mine = Vec::new();
                let mut at = tree.idom[node as usize];
                while at != NONE {
                    mine.push(at);
                    at = tree.idom[at as usize];
                }
                mine.sort_unstable();
                let truth: Vec<u32> = (0..nodes)
                    .filter(|other| *other != node && all[node as usize] && !reach(&graph, Some(*other))[node as usize])
                    .collect();
                prop_assert_eq!(mine, truth, "of {} in {:?}", node, edges);
            }
            prop_assert_eq!(tree.order.len(), all.iter().filter(|reached| **reached).count());
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
        let mine = dominators(&Csr::from_edges(nodes as usize, &edges.iter().copied()), 0);
        let graph = petgraph::graph::DiGraph::<(), (), u32>::from_edges(edges);
        let theirs = petgraph::algo::dominators::simple_fast(&graph, 0.into());
        for node in 0..nodes {
            let dominator =
                theirs.immediate_dominator(node.into()).map_or(NONE, |node| node.index() as u32);
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
        let tree = dominators(&Csr::from_edges(nodes as usize, &edges.iter().copied()), 0);
        assert!(tree.idom[1..].iter().all(|dominator| *dominator == 0));
        let list: Vec<(u32, u32)> = (1..nodes).map(|node| (node - 1, node)).collect();
        let tree = dominators(&Csr::from_edges(nodes as usize, &list.iter().copied()), 0);
        assert!((1..nodes).all(|node| tree.idom[node as usize] == node - 1));
    }
}
