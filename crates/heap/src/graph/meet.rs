//! Where the ways to shared blocks meet: for those that several blocks of a tree lead to, directly or
//! through other shared blocks, the lowest block of the tree above all of these.
//!
//! The trees' blocks that matter are numbered in preorder. The lowest common ancestor of some of them
//! is that of the first and the last, and its number is the smallest that any block behind the first,
//! up to the last, has above it. So two numbers are enough for each shared block, and what leads to it
//! through others is added by carrying these on.

use std::io;

use super::bits::{Bits, Ranked};
use super::column::{Column, Place};
use super::csr::{Csr, Pairs};
use super::nodes::{NO_BLOCK, SHARED};

/// Finds the blocks that dominate shared blocks. `pairs` are blocks of trees and the nodes that they
/// point to; `siblings` are nodes of which one points to the other, both with the same dominating tree root.
/// `found` gets each node of either that anything leads to. Trees hang from blocks whose parent is
/// [`SHARED`]; there are so many `nodes`.
///
/// # Errors
/// If there is no room for what that takes.
pub(super) fn settle(
    place: &Place,
    nodes: usize,
    pairs: Pairs,
    siblings: Pairs,
    parents: &[u32],
    mut found: impl FnMut(u32, u32),
) -> io::Result<()> {
    if pairs.is_empty() {
        return Ok(());
    }
    let kept = kept(&pairs, parents);
    let forest = Forest::new(place, &kept, parents)?;
    let mut first = place.column(nodes, || NO_BLOCK)?;
    let mut last: Column<u32> = place.column(nodes, || NO_BLOCK)?;
    for (from, node) in pairs.iter() {
        let number = forest.numbers[kept.rank(from) as usize];
        let (first, last) = (&mut first[node as usize], &mut last[node as usize]);
        *first = number.min(*first);
        // Counted from the other end, so that nothing is the largest here, too.
        *last = (NO_BLOCK - 1 - number).min(*last);
    }
    drop((pairs, kept));
    if !siblings.is_empty() {
        let edges = Csr::from_edges(place, nodes, &siblings.iter())?;
        drop(siblings);
        carry(place, &edges, &mut first)?;
        carry(place, &edges, &mut last)?;
    }
    for (node, (first, last)) in (0u32..).zip(first.iter().zip(last.iter())) {
        if *first != NO_BLOCK {
            found(node, forest.common(*first, NO_BLOCK - 1 - last));
        }
    }
    Ok(())
}

/// The blocks that point to shared ones, the places where their ways up meet, and the trees' tops.
fn kept(pairs: &Pairs, parents: &[u32]) -> Ranked {
    let (mut kept, mut passed) = (Bits::new(parents.len()), Bits::new(parents.len()));
    for (from, _) in pairs.iter() {
        if !kept.insert(from) {
            continue;
        }
        let mut at = from;
        while passed.insert(at) {
            let above = parents[at as usize];
            if above >= SHARED {
                kept.insert(at);
                break;
            }
            at = above;
            if passed.contains(at) {
                kept.insert(at);
            }
        }
    }
    Ranked::new(kept)
}

/// Gives each number to all that can be reached from where it stands, the smallest to each.
fn carry(place: &Place, edges: &Csr, numbers: &mut [u32]) -> io::Result<()> {
    let mut order: Column<u32> =
        place.zeros(numbers.iter().filter(|number| **number != NO_BLOCK).count())?;
    let known = (0u32..).zip(&*numbers).filter(|(_, number)| **number != NO_BLOCK);
    for (place, (node, _)) in order.iter_mut().zip(known) {
        *place = node;
    }
    order.sort_unstable_by_key(|node| numbers[*node as usize]);
    let mut done = Bits::new(numbers.len());
    let mut todo = Vec::new();
    for start in order.iter() {
        let number = numbers[*start as usize];
        todo.push(*start);
        while let Some(node) = todo.pop() {
            if done.insert(node) {
                numbers[node as usize] = number;
                todo.extend(edges.of(node).iter().copied().filter(|to| !done.contains(*to)));
            }
        }
    }
    Ok(())
}

/// Trees of blocks, numbered in preorder.
struct Forest {
    /// By rank.
    numbers: Column<u32>,
    /// By number.
    blocks: Column<u32>,
    /// By number, the number above; [`NO_BLOCK`] for tops.
    above: Column<u32>,
    /// The smallest numbers above in each [`SPAN`] of them, then in each span of those, and so on.
    smallest: Vec<Column<u32>>,
}

/// Numbers of which the smallest is known.
const SPAN: usize = 64;

impl Forest {
    fn new(place: &Place, kept: &Ranked, parents: &[u32]) -> io::Result<Self> {
        let mut tops = Vec::new();
        // What lies between two that are kept is climbed over once, as it has no other kept below.
        let mut ranks: Column<u32> = place.zeros(kept.len())?;
        for (rank, block) in (0u32..).zip(kept.bits().iter()) {
            let mut at = parents[block as usize];
            while at < SHARED && !kept.contains(at) {
                at = parents[at as usize];
            }
            ranks[rank as usize] = if at < SHARED { kept.rank(at) } else { NO_BLOCK };
            if at >= SHARED {
                tops.push(rank);
            }
        }
        let edges = (0u32..).zip(ranks.iter()).filter(|(_, above)| **above != NO_BLOCK);
        let below = Csr::from_edges(place, kept.len(), &edges.map(|(rank, above)| (*above, rank)))?;
        let mut numbers: Column<u32> = place.zeros(kept.len())?;
        let mut above: Column<u32> = place.zeros(kept.len())?;
        let mut todo = tops;
        let mut next = 0;
        while let Some(rank) = todo.pop() {
            numbers[rank as usize] = next;
            above[next as usize] = match ranks[rank as usize] {
                NO_BLOCK => NO_BLOCK,
                parent => numbers[parent as usize],
            };
            next += 1;
            todo.extend_from_slice(below.of(rank));
        }
        drop((below, todo));
        let mut blocks = ranks;
        for (number, block) in numbers.iter().zip(kept.bits().iter()) {
            blocks[*number as usize] = block;
        }
        let mut smallest: Vec<Column<u32>> = Vec::new();
        loop {
            let spans = smallest.last().unwrap_or(&above);
            if spans.len() <= SPAN {
                break;
            }
            let spans =
                spans.chunks(SPAN).map(|span| span.iter().copied().min().unwrap_or(NO_BLOCK));
            smallest.push(Column::from(spans.collect::<Vec<_>>()));
        }
        Ok(Self { numbers, blocks, above, smallest })
    }

    /// The lowest block that is above all of those from one number to another of the same tree, or one
    /// of them.
    fn common(&self, first: u32, last: u32) -> u32 {
        if first == last {
            return self.blocks[first as usize];
        }
        let (mut start, mut end) = (first as usize + 1, last as usize + 1);
        let mut least = NO_BLOCK;
        for level in std::iter::once(&self.above).chain(&self.smallest) {
            let (inner, outer) = (start.next_multiple_of(SPAN), end / SPAN * SPAN);
            let some = |range: std::ops::Range<usize>| {
                level[range].iter().copied().min().unwrap_or(NO_BLOCK)
            };
            if inner >= outer {
                least = least.min(some(start..end));
                break;
            }
            least = least.min(some(start..inner)).min(some(outer..end));
            (start, end) = (inner / SPAN, outer / SPAN);
        }
        self.blocks[least as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::semi_nca::dominators;
    use proptest::prelude::*;

    fn gathered(pairs: &[(u32, u32)]) -> Pairs {
        let mut all = Pairs::default();
        for pair in pairs {
            all.push(*pair);
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// A tree of 150 blocks, exits to shared blocks, and edges among those: as the dominators of the
        /// graph that these are.
        #[test]
        fn agrees_with_dominators(
            above in proptest::collection::vec((any::<u32>(), any::<bool>()), 150),
            pairs in proptest::collection::vec((0u32..150, 0u32..12), 1..30),
            siblings in proptest::collection::vec((0u32..12, 0u32..12), 0..20),
        ) {
            // Some trees are wide, and most are deep.
            let parents: Vec<u32> = (0..)
                .zip(&above)
                .map(|(block, (above, is_chain))| match block {
                    0 => SHARED,
                    block if *is_chain => block - 1,
                    block => above % block,
                })
                .collect();
            let tree = (1u32..).zip(&parents[1..]).map(|(block, above)| (*above, block));
            let cross_edges = pairs.iter().map(|(from, node)| (*from, 150 + node));
            let others = siblings.iter().map(|(from, node)| (150 + from, 150 + node));
            let edges: Vec<(u32, u32)> = tree.chain(cross_edges).chain(others).collect();
            let graph = Csr::from_edges(&Place::Memory, 162, &edges.iter().copied()).unwrap();
            let truth = dominators(&Place::Memory, &graph, 0).unwrap();
            let mut mine = [NO_BLOCK; 12];
            let (pairs, siblings) = (gathered(&pairs), gathered(&siblings));
            settle(&Place::Memory, 12, pairs, siblings, &parents, |node, block| {
                mine[node as usize] = block;
            })
            .unwrap();
            for (node, mine) in mine.iter().enumerate() {
                // What one shared block dominates is another matter.
                let truth = truth.idom[150 + node];
                let truth = if truth < 150 || truth == NO_BLOCK { truth } else { continue };
                prop_assert_eq!(*mine, truth, "of {}", node);
            }
        }
    }
}
