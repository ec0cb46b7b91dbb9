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
use super::csr::Pairs;
use super::error::Failed;
use super::globals::{Globals, Held};
use super::nodes::{NO_BLOCK, SHARED};
use super::numbering::Numbers;
use super::passes::{gather, sweep};
use super::refine;
use super::semi_nca::Tree;
use super::weights::{Weighing, Weights};
use crate::read::{Columns, Detail, Snapshot};
use memtrail_leb128::{Cursor, put, unzigzag, zigzag};

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

/// What one pass over the edges of all blocks gathers.
pub(crate) struct Gathered {
    /// Edges to shared blocks.
    pub(crate) shared: CrossEdges,
    /// Edges to static data, which decide about its owners alone.
    pub(crate) statics: CrossEdges,
    /// The size of the tree that hangs from each tree root, itself counted.
    pub(crate) weights: Weights,
    /// What global variables hold.
    pub(crate) globals: Globals,
}

/// Gathers them. `tree_roots` has for each block the tree root that it hangs from.
pub(crate) fn cross_edges(
    place: &Place,
    snapshot: &Snapshot<'_>,
    numbers: &Numbers,
    tree_roots: &[u32],
    statics: &Bits,
    threads: usize,
) -> Result<Gathered, Failed> {
    let root_nodes = numbers.root_nodes.len() as u32;
    let weighing = Weighing::new(place, numbers.tree_roots.len())?;
    let sections = ChunkBuffer::new(place, snapshot.sections(), tree_roots.len() * 2);
    let to_statics = ChunkBuffer::new(place, snapshot.sections(), tree_roots.len() / 8);
    let held = Held::new(snapshot);
    let start = || ([Vec::new(), Vec::new()], Globals::default());
    let gathered =
        sweep(snapshot, threads, Detail::Edges, start, |(bytes, globals), section, columns| {
            bytes.iter_mut().for_each(Vec::clear);
            pack(columns, numbers, tree_roots, statics, bytes, |node, words| {
                weighing.add(node - root_nodes, words);
            });
            sections.put(section, &bytes[0]);
            to_statics.put(section, &bytes[1]);
            globals.look(columns, &held);
        })?;
    let mut globals = Globals::default();
    for (_, more) in gathered {
        globals.append(more);
    }
    let firsts: Vec<u32> =
        (0..snapshot.sections()).map(|section| snapshot.first_of(section).0).collect();
    Ok(Gathered {
        shared: CrossEdges { sections: sections.finish()?, firsts: firsts.clone() },
        statics: CrossEdges { sections: to_statics.finish()?, firsts },
        weights: weighing.finish(),
        globals,
    })
}

/// A section's edges to shared blocks, and to static data; `weigh` gets the sizes of runs of blocks in one
/// tree.
fn pack(
    columns: &Columns,
    numbers: &Numbers,
    tree_roots: &[u32],
    statics: &Bits,
    [bytes, static_bytes]: &mut [Vec<u8>; 2],
    mut weigh: impl FnMut(u32, u64),
) {
    let (mut shared, mut to_statics) =
        (Packing::new(columns.first.0, bytes), Packing::new(columns.first.0, static_bytes));
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
            if tree_roots[*to as usize] == SHARED && *to != from {
                let packing = if statics.contains(*to) { &mut to_statics } else { &mut shared };
                packing.targets.push(*to);
            }
        }
        shared.put(from, node, numbers);
        to_statics.put(from, node, numbers);
    }
    if words > 0 {
        weigh(node, words);
    }
}

/// Edges of a section that are being packed.
struct Packing<'b> {
    bytes: &'b mut Vec<u8>,
    /// Where the edges of the block that is looked at lead.
    targets: Vec<u32>,
    last_from: u32,
    last_node: u32,
}

impl<'b> Packing<'b> {
    fn new(first: u32, bytes: &'b mut Vec<u8>) -> Self {
        Self { bytes, targets: Vec::new(), last_from: first, last_node: 0 }
    }

    /// Packs the edges of a block.
    #[inline]
    fn put(&mut self, from: u32, node: u32, numbers: &Numbers) {
        if self.targets.is_empty() {
            return;
        }
        put(self.bytes, u64::from(from - self.last_from));
        put(self.bytes, difference(self.last_node, node));
        put(self.bytes, self.targets.len() as u64);
        for to in self.targets.drain(..) {
            put(self.bytes, difference(node, numbers.of_tree_root(to)));
        }
        (self.last_from, self.last_node) = (from, node);
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
    let none = || refine::CrossEdges { pairs: Pairs::new(place), ..refine::CrossEdges::default() };
    let gathered: Result<Vec<refine::CrossEdges>, Infallible> =
        gather(cross_edges.sections(), threads, none, |into, section| {
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
    let mut all = refine::CrossEdges { only: into_plain(only), ..none() };
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
