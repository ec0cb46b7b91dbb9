//! Edges to shared blocks: the few that the core of the graph is made of, and that dominators are
//! found by. They are gathered once, packed, in the order of the blocks that they leave.
//!
//! ```text
//! section = (block: difference to the last:n, node: zigzag difference to the last:n, edges:n,
//!            node pointed to: zigzag difference to the node:n*)*
//! ```

use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::bits::Bits;
use super::core::Numbers;
use super::pieces::{gather, settled};
use super::refine;
use super::semi_nca::Tree;
use super::sweep::sweep;
use super::{NONE, SHARED};
use crate::read::{Columns, Error, Snapshot};
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
pub(crate) struct Exits {
    sections: Vec<(u32, Vec<u8>)>,
}

impl Exits {
    pub(crate) fn sections(&self) -> usize {
        self.sections.len()
    }

    /// Hands out the edges of a section.
    #[inline]
    pub(crate) fn each(&self, section: usize, mut each: impl FnMut(Exit)) {
        let Some((mut from, packed)) = self.sections.get(section).map(|(at, bytes)| (*at, bytes))
        else {
            return;
        };
        let mut node = 0;
        let mut cursor = Cursor::new(packed);
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

/// Sums that many threads add to. Few of them do not fit into 32 bits.
pub(super) struct Weights {
    low: Vec<AtomicU32>,
    /// How often each ran over.
    over: Mutex<HashMap<u32, u64, FxBuildHasher>>,
}

impl Weights {
    fn new(count: usize) -> Self {
        Self {
            low: (0..count).map(|_| AtomicU32::new(0)).collect(),
            over: Mutex::new(HashMap::default()),
        }
    }

    #[inline]
    fn add(&self, place: u32, words: u64) {
        let low = words as u32;
        let before = self.low[place as usize].fetch_add(low, Ordering::Relaxed);
        let over = (words >> 32) + u64::from(before.checked_add(low).is_none());
        if over > 0
            && let Ok(mut sums) = self.over.lock()
        {
            *sums.entry(place).or_insert(0) += over;
        }
    }

    fn finish(self) -> Vec<u64> {
        let over = self.over.into_inner().unwrap_or_default();
        let mut sums: Vec<u64> =
            self.low.into_iter().map(|low| u64::from(low.into_inner())).collect();
        for (place, over) in over {
            sums[place as usize] += over << 32;
        }
        sums
    }
}

/// Gathers them, and the size of the tree that hangs from each head, itself counted. `heads` has for
/// each block the head that it hangs from.
pub(crate) fn exits(
    snapshot: &Snapshot<'_>,
    numbers: &Numbers,
    heads: &[u32],
    statics: &Bits,
    threads: usize,
) -> Result<(Exits, Vec<u64>), Error> {
    let holders = numbers.holders.len() as u32;
    let weights = Weights::new(numbers.heads.len());
    let gathered = sweep(snapshot, threads, Vec::new, |packed, section, columns| {
        let first = columns.first.0;
        let bytes = pack(columns, numbers, heads, statics, |node, words| {
            weights.add(node - holders, words);
        });
        packed.push((section, first, bytes));
    })?;
    let mut all = gathered.concat();
    all.sort_unstable_by_key(|(section, ..)| *section);
    let sections = all.into_iter().map(|(_, first, bytes)| (first, bytes)).collect();
    Ok((Exits { sections }, weights.finish()))
}

/// A section's edges to shared blocks; `weigh` gets the sizes of runs of blocks in one tree.
fn pack(
    columns: &Columns,
    numbers: &Numbers,
    heads: &[u32],
    statics: &Bits,
    mut weigh: impl FnMut(u32, u64),
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut targets: Vec<u32> = Vec::new();
    let (mut last_from, mut last_node) = (columns.first.0, 0);
    // The tree of the block before, and the words of it in a row.
    let (mut head, mut node, mut words) = (NONE, 0, 0);
    for block in columns.iter() {
        let from = block.index.0;
        let its = match heads[from as usize] {
            SHARED => from,
            NONE => continue,
            head => head,
        };
        if its != head {
            if words > 0 {
                weigh(node, words);
            }
            (head, node, words) = (its, numbers.of_head(its), 0);
        }
        words += block.size().0;
        for to in block.targets {
            if heads[*to as usize] == SHARED && *to != from && !statics.contains(*to) {
                targets.push(*to);
            }
        }
        if !targets.is_empty() {
            put(&mut bytes, u64::from(from - last_from));
            put(&mut bytes, difference(last_node, node));
            put(&mut bytes, targets.len() as u64);
            for to in targets.drain(..) {
                put(&mut bytes, difference(node, numbers.of_head(to)));
            }
            (last_from, last_node) = (from, node);
        }
    }
    if words > 0 {
        weigh(node, words);
    }
    bytes.shrink_to_fit();
    bytes
}

/// The edges by which shared blocks hang from the tree of the head that dominates them, and for each
/// head a block that points to it from the tree of the node `before` it.
pub(crate) fn toward(
    exits: &Exits,
    numbers: &Numbers,
    tree: &Tree,
    before: &[u32],
    threads: usize,
) -> (refine::Exits, Vec<u32>) {
    let holders = numbers.holders.len();
    let via: Vec<AtomicU32> = (0..numbers.heads.len()).map(|_| AtomicU32::new(NONE)).collect();
    let gathered: Result<Vec<refine::Exits>, Infallible> =
        gather(exits.sections(), threads, refine::Exits::default, |into, section| {
            exits.each(section, |Exit { from, node, to }| {
                if before[to as usize] == node {
                    via[to as usize - holders].fetch_min(from, Ordering::Relaxed);
                }
                if tree.idom[to as usize] == node {
                    if numbers.heads.contains(from) {
                        into.settled.push(to);
                    } else {
                        into.pairs.push((from, to));
                    }
                }
            });
            Ok(())
        });
    let Ok(gathered) = gathered;
    let mut all = refine::Exits::default();
    for mut exits in gathered {
        all.pairs.append(exits.pairs);
        all.settled.append(&mut exits.settled);
    }
    (all, settled(via))
}
