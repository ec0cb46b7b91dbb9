//! Settling the shared blocks of one head where they are very many: as [`super::refine`] does for
//! few, in sets and columns instead of tables.

use std::io;

use super::SHARED;
use super::bits::{Bits, Ranked};
use super::column::Place;
use super::csr::Csr;
use super::semi_nca::dominators;

/// Finds the blocks of the tree of `head` that dominate the shared blocks of `pairs` and `siblings`,
/// which are nodes of a core of so many. `pairs` are exits of the tree and what they point to,
/// `siblings` edges between the shared blocks.
///
/// # Errors
/// If there is no room for what that takes.
pub(super) fn settle(
    place: &Place,
    nodes: usize,
    head: u32,
    pairs: &[(u32, u32)],
    siblings: &[(u32, u32)],
    parents: &[u32],
    mut found: impl FnMut(u32, u32),
) -> io::Result<()> {
    let kept = kept(head, pairs, parents);
    let (mut there, mut pointed) = (Bits::new(nodes), Bits::new(nodes));
    for (_, node) in pairs.iter().chain(siblings) {
        there.insert(*node);
        pointed.insert(*node);
    }
    for (from, _) in siblings {
        there.insert(*from);
    }
    let there = Ranked::new(there);
    // The head, the blocks of its tree, the shared blocks.
    let blocks = 1 + kept.len() as u32;
    let of_block = |block: u32| if block == head { 0 } else { 1 + kept.rank(block) };
    let of_shared = |node: u32| blocks + there.rank(node);
    let graph = Csr::new(place, blocks as usize + there.len(), |edge| {
        // Each block hangs from the nearest one above.
        for block in kept.bits().iter() {
            let mut above = parents[block as usize];
            while above != head && above < SHARED && !kept.contains(above) {
                above = parents[above as usize];
            }
            edge(if above < SHARED { of_block(above) } else { 0 }, of_block(block));
        }
        for (exit, node) in pairs {
            edge(of_block(*exit), of_shared(*node));
        }
        for (from, node) in siblings {
            edge(of_shared(*from), of_shared(*node));
        }
        // Whoever no edge leads to is one that the head points to by itself.
        for node in there.bits().iter().filter(|node| !pointed.contains(*node)) {
            edge(0, of_shared(node));
        }
    })?;
    let tree = dominators(place, &graph, 0)?;
    for (id, node) in (blocks..).zip(there.bits().iter()) {
        let above = tree.idom[id as usize];
        if pointed.contains(node) && above < blocks {
            let block = above.checked_sub(1).and_then(|rank| kept.select(rank));
            found(node, block.unwrap_or(head));
        }
    }
    Ok(())
}

/// The exits, and the places where their ways up to the head meet.
fn kept(head: u32, pairs: &[(u32, u32)], parents: &[u32]) -> Ranked {
    let (mut kept, mut passed) = (Bits::new(parents.len()), Bits::new(parents.len()));
    for (exit, _) in pairs {
        if *exit == head || !kept.insert(*exit) {
            continue;
        }
        let mut at = *exit;
        while passed.insert(at) {
            at = parents[at as usize];
            if at == head || at >= SHARED {
                break;
            }
            if passed.contains(at) {
                kept.insert(at);
            }
        }
    }
    Ranked::new(kept)
}
