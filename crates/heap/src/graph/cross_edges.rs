//! Edges to shared blocks: the few that the core of the graph is made of, and that dominators are
//! found by. They are gathered once, packed, in the order of the blocks that they leave.
//!
//! ```text
//! section = (block: difference to the last:n, node: zigzag difference to the last:n, edges:n,
//!            node pointed to: zigzag difference to the node:n*)*
//! ```

use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use super::bits::Bits;
use super::chunk_buffer::{ChunkBuffer, Spooled};
use super::column::{Column, Place, into_plain};
use super::error::Failed;
use super::nodes::{NO_BLOCK, SHARED};
use super::numbering::Numbers;
use super::passes::{gather, sweep};
use super::refine;
use super::semi_nca::Tree;
use super::weights::{Weighing, Weights};
use crate::read::{Columns, Snapshot};
use crate::wire::{Cursor, put, unzigzag, zigzag};

/// An edge from a block to a shared one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    /// The block that points.
    pub(crate) from: u32,
    /// The core's node whose tree it is in.
    pub(crate) node: u32,
    /// The node of the block pointed to.
    pub(crate) to: u32,
}

/// All edges to shared blocks, by section of the snapshot.
#[derive(Debug, Default)]
pub(crate) struct CrossEdges {
    sections: Spooled,
    /// The first block of each section.
    firsts: Vec<u32>,
}

impl CrossEdges {
    pub(crate) fn sections(&self) -> usize {
        self.sections.len()
    }

    /// Hands out the edges of a section.
    #[inline]
    pub(crate) fn each(&self, section: usize, mut each: impl FnMut(Exit)) {
        let Some(mut from) = self.firsts.get(section).copied() else { return };
        let mut node = 0;
        let mut cursor = Cursor::new(self.sections.get(section));
        // What was packed here ends where it should.
        let mut block = || {
            from = from.wrapping_add(cursor.number()? as u32);
            node = step(node, cursor.number()?);
            for _ in 0..cursor.number()? {
                let to = step(node, cursor.number()?);
                each(Exit { from, node, to });
            }
            Some(())
        };
        while block().is_some() {}
    }

    /// Hands out all edges, in order.
    pub(crate) fn each_of_all(&self, mut each: impl FnMut(Exit)) {
        for section in 0..self.sections() {
            self.each(section, &mut each);
        }
    }
}

#[inline]
fn step(from: u32, difference: u64) -> u32 {
    (i64::from(from) + unzigzag(difference)) as u32
}

#[inline]
fn difference(from: u32, to: u32) -> u64 {
    zigzag(i64::from(to) - i64::from(from))
}

/// Gathers them, and the size of the tree that hangs from each tree root, itself counted. `tree_roots` has for
/// each block the tree root that it hangs from.
pub(crate) fn cross_edges(
    place: &Place,
    snapshot: &Snapshot<'_>,
    numbers: &Numbers,
    tree_roots: &[u32],
    statics: &Bits,
    threads: usize,
) -> Result<(CrossEdges, Weights), Failed> {
    let root_nodes = numbers.root_nodes.len() as u32;
    let weighing = Weighing::new(place, numbers.tree_roots.len())?;
    let sections = ChunkBuffer::new(place, snapshot.sections(), tree_roots.len() * 2);
    sweep(snapshot, threads, Vec::new, |bytes, section, columns| {
        bytes.clear();
        pack(columns, numbers, tree_roots, statics, bytes, |node, words| {
            weighing.add(node - root_nodes, words);
        });
        sections.put(section, bytes);
    })?;
    let firsts = (0..snapshot.sections()).map(|section| snapshot.first_of(section).0).collect();
    Ok((CrossEdges { sections: sections.finish()?, firsts }, weighing.finish()))
}

/// A section's edges to shared blocks; `weigh` gets the sizes of runs of blocks in one tree.
fn pack(
    columns: &Columns,
    numbers: &Numbers,
    tree_roots: &[u32],
    statics: &Bits,
    bytes: &mut Vec<u8>,
    mut weigh: impl FnMut(u32, u64),
) {
    let mut targets: Vec<u32> = Vec::new();
    let (mut last_from, mut last_node) = (columns.first.0, 0);
    // The tree of the block before, and the words of it in a row.
    let (mut tree_root, mut node, mut words) = (NO_BLOCK, 0, 0);
    for block in columns.iter() {
        let from = block.index.0;
        let its = match tree_roots[from as usize] {
            SHARED => from,
            NO_BLOCK => continue,
            tree_root => tree_root,
        };
        if its != tree_root {
            if words > 0 {
                weigh(node, words);
            }
            (tree_root, node, words) = (its, numbers.of_tree_root(its), 0);
        }
        words += block.size().0;
        for to in block.targets {
            if tree_roots[*to as usize] == SHARED && *to != from && !statics.contains(*to) {
                targets.push(*to);
            }
        }
        if !targets.is_empty() {
            put(bytes, u64::from(from - last_from));
            put(bytes, difference(last_node, node));
            put(bytes, targets.len() as u64);
            for to in targets.drain(..) {
                put(bytes, difference(node, numbers.of_tree_root(to)));
            }
            (last_from, last_node) = (from, node);
        }
    }
    if words > 0 {
        weigh(node, words);
    }
}

/// The edges by which shared blocks hang from the tree of the tree root that dominates them, and for each
/// tree root a block that points to it from the tree of the node `before` it.
pub(crate) fn toward(
    cross_edges: &CrossEdges,
    place: &Place,
    numbers: &Numbers,
    tree: &Tree,
    before: &[u32],
    threads: usize,
) -> io::Result<(refine::CrossEdges, Column<u32>)> {
    let root_nodes = numbers.root_nodes.len();
    let predecessor = place.column(numbers.tree_roots.len(), || AtomicU32::new(NO_BLOCK))?;
    let only = place.column(numbers.tree_roots.len(), || AtomicU32::new(NO_BLOCK))?;
    let gathered: Result<Vec<refine::CrossEdges>, Infallible> =
        gather(cross_edges.sections(), threads, refine::CrossEdges::default, |into, section| {
            cross_edges.each(section, |Exit { from, node, to }| {
                if before[to as usize] == node {
                    predecessor[to as usize - root_nodes].fetch_min(from, Ordering::Relaxed);
                }
                if tree.idom[to as usize] == node {
                    if numbers.tree_roots.contains(from) {
                        into.direct.push(to);
                    } else {
                        let only = &only[to as usize - root_nodes];
                        note(only, from, |from| into.pairs.push((from, to)));
                    }
                }
            });
            Ok(())
        });
    let Ok(gathered) = gathered;
    let mut all = refine::CrossEdges { only: into_plain(only), ..refine::CrossEdges::default() };
    for mut cross_edges in gathered {
        all.pairs.append(cross_edges.pairs);
        all.direct.append(&mut cross_edges.direct);
    }
    Ok((all, into_plain(predecessor)))
}

/// Notes a block that points to the one whose `only` this is. Once there are several, `pair` gets each.
#[inline]
fn note(only: &AtomicU32, from: u32, mut pair: impl FnMut(u32)) {
    let mut known = only.load(Ordering::Relaxed);
    while known != from {
        let new = match known {
            SHARED => return pair(from),
            NO_BLOCK => from,
            _ => SHARED,
        };
        match only.compare_exchange(known, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(NO_BLOCK) => return,
            Ok(other) => {
                pair(other);
                return pair(from);
            }
            Err(now) => known = now,
        }
    }
}
