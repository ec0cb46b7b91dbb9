//! From dominators among tree roots to dominators among all blocks.
//!
//! The core says for each shared block which *tree root* dominates it, but its dominator may be a block
//! further down in the tree that hangs from that tree root. A shared block to which all edges lead from one
//! block of the tree, or from shared blocks of which that is true, is dominated by that one: so are
//! nearly all. The others are dominated by the block where the ways to them meet ([`meet`]).

use std::io;

use super::bits::Bits;
use super::column::{Column, Place};
use super::csr::{Csr, Pairs};
use super::meet;
use super::nodes::{NO_BLOCK, SHARED};
use super::numbering::Numbers;
use super::semi_nca::Tree;

/// What is known of the edges to shared blocks whose dominator has to be found.
#[derive(Debug, Default)]
pub(crate) struct CrossEdges {
    /// For each tree root the only block of the dominating tree root's own tree that points to it; [`NO_BLOCK`] if
    /// none does, [`SHARED`] for those with several.
    pub(crate) only: Column<u32>,
    /// Blocks of the tree, and the node of the core that they point to, of nodes with several.
    pub(crate) pairs: Pairs,
    /// Nodes of the core that the dominating tree root itself points to.
    pub(crate) direct: Vec<u32>,
}

/// Finds for each tree root the block or root node that dominates it: blocks by number, root nodes from
/// `blocks` on, [`NO_BLOCK`] where nothing does.
///
/// # Errors
/// If there is no room for what that takes.
pub(crate) fn refine(
    place: &Place,
    numbers: &Numbers,
    graph: &Csr,
    tree: &Tree,
    parents: &[u32],
    cross_edges: CrossEdges,
) -> io::Result<Column<u32>> {
    let blocks = parents.len() as u32;
    let root_nodes = numbers.root_nodes.len() as u32;
    let mut block_of: Column<u32> = place.zeros(numbers.tree_roots.len())?;
    for (block, tree_root) in block_of.iter_mut().zip(numbers.tree_roots.bits().iter()) {
        *block = tree_root;
    }
    let CrossEdges { mut only, mut pairs, direct: of_tree_roots } = cross_edges;
    let mut direct = Bits::new(numbers.len());
    for node in of_tree_roots {
        direct.insert(node);
        only[(node - root_nodes) as usize] =
            block_of[(tree.idom[node as usize] - root_nodes) as usize];
    }
    pairs.retain(|(_, node)| !direct.contains(node));
    let mut siblings = siblings(place, numbers, graph, tree, &direct)?;
    drop(direct);
    spread(place, numbers, &mut only, &mut pairs, &siblings)?;
    // What several blocks lead to is left, and shared blocks that point to it.
    siblings.retain(|(from, node)| {
        let [from, node] = [from, node].map(|of| only[(of - root_nodes) as usize]);
        node == SHARED && from == SHARED
    });

    // The final answer for the others; the coarse one where a root node dominates.
    let mut dominator = only;
    for (dominator, parent) in dominator.iter_mut().zip(&tree.idom[root_nodes as usize..]) {
        *dominator = match *parent {
            NO_BLOCK => NO_BLOCK,
            root_node if root_node < root_nodes => blocks + root_node,
            _ if *dominator < SHARED => continue,
            tree_root => block_of[(tree_root - root_nodes) as usize],
        };
    }
    drop(block_of);
    meet::settle(place, numbers.len(), pairs, siblings, parents, |node, parent| {
        dominator[(node - root_nodes) as usize] = parent;
    })?;
    Ok(dominator)
}

impl CrossEdges {
    /// One more: a block of the dominating tree root's tree, and the node that it points to.
    pub(crate) fn add(&mut self, from: u32, node: u32, root_nodes: usize) {
        let only = &mut self.only[node as usize - root_nodes];
        match *only {
            known if known == from => {}
            NO_BLOCK => *only = from,
            known => {
                if known != SHARED {
                    self.pairs.push((known, node));
                }
                self.pairs.push((from, node));
                *only = SHARED;
            }
        }
    }
}

/// Carries the only block that leads to a shared one on to the shared blocks that this points to:
/// `only` becomes [`SHARED`] for those to which others lead, too, and `pairs` get all of these.
fn spread(
    place: &Place,
    numbers: &Numbers,
    only: &mut [u32],
    pairs: &mut Pairs,
    siblings: &Pairs,
) -> io::Result<()> {
    let root_nodes = numbers.root_nodes.len() as u32;
    let mut meet = |from: u32, node: u32| {
        let more = only[(from - root_nodes) as usize];
        let known = &mut only[(node - root_nodes) as usize];
        if more == *known || more == NO_BLOCK || *known == SHARED {
            return false;
        }
        if *known == NO_BLOCK {
            *known = more;
        } else {
            pairs.push((*known, node));
            *known = SHARED;
        }
        true
    };
    let changed = siblings.iter().filter(|(from, node)| meet(*from, *node));
    let mut todo: Vec<u32> = changed.map(|(_, node)| node).collect();
    if !todo.is_empty() {
        let edges = Csr::from_edges(place, numbers.len(), &siblings.iter())?;
        while let Some(from) = todo.pop() {
            todo.extend(edges.of(from).iter().copied().filter(|node| meet(from, *node)));
        }
    }
    for (from, node) in siblings.iter() {
        let [from, of_node] = [from, node].map(|of| only[(of - root_nodes) as usize]);
        if of_node == SHARED && from < SHARED {
            pairs.push((from, node));
        }
    }
    Ok(())
}

/// Edges from what a shared block dominates to another shared block, where both have the same
/// dominating tree root: as the two shared blocks.
fn siblings(
    place: &Place,
    numbers: &Numbers,
    graph: &Csr,
    tree: &Tree,
    direct: &Bits,
) -> io::Result<Pairs> {
    let edges = tree
        .order()
        .iter()
        .filter(|node| tree.idom[**node as usize] != NO_BLOCK)
        .map(|node| (tree.idom[*node as usize], *node));
    let children = Csr::from_edges(place, graph.nodes(), &edges)?;
    let mut found = Pairs::new(place);
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
            let parent = tree.idom[*to as usize];
            if parent == child
                || parent == NO_BLOCK
                || numbers.is_root_node(parent)
                || direct.contains(*to)
            {
                continue;
            }
            let Some((branch, _)) = way.get(depth[parent as usize] as usize + 1) else { continue };
            if branch != to {
                found.push((*branch, *to));
            }
        }
    }
    Ok(found)
}
