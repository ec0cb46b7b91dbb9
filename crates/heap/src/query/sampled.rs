//! What groups of blocks retain, where they are few: those that the allocation trace knows, by
//! where they were allocated.

use std::cmp::Reverse;

use hashbrown::HashMap;
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;

use super::catalogue::{Catalogue, KindId};
use super::heap::Heap;
use crate::graph::Node;
use crate::units::{BlockIndex, Words};

/// Blocks of a group that are alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// How many.
    pub blocks: u64,
    /// Their own size.
    pub own: Words,
    /// What they retain one by one: the sum over those that no other of the group dominates.
    pub retained: Words,
    /// The one that retains most.
    pub example: Option<BlockIndex>,
    example_words: u64,
}

/// For each group the most frequent kinds of its blocks, at most `most`.
pub fn group_kinds(
    catalogue: &Catalogue,
    blocks: &[(BlockIndex, u32)],
    groups: usize,
    most: usize,
) -> Vec<Vec<KindId>> {
    let mut counts: Vec<HashMap<KindId, u64, FxBuildHasher>> = vec![HashMap::default(); groups];
    for (block, group) in blocks {
        *counts[*group as usize].entry(catalogue.kind(*block)).or_insert(0) += 1;
    }
    let frequent = counts.into_iter().map(|counts| {
        let mut kinds: Vec<(KindId, u64)> = counts.into_iter().collect();
        kinds.sort_rows_by_key(|(kind, count)| (Reverse(*count), *kind));
        kinds.into_iter().take(most).map(|(kind, _)| kind).collect()
    });
    frequent.collect()
}

/// None of the blocks.
const NO_SAMPLE: u32 = u32::MAX;
/// Not known yet; of the blocks that are given: not looked at.
const UNKNOWN: u32 = u32::MAX - 1;

/// Sums up blocks by group; each block has the number of one of `groups`. Dead blocks are
/// passed over.
pub fn sampled(
    heap: &Heap<'_>,
    catalogue: &Catalogue,
    blocks: &[(BlockIndex, u32)],
    groups: usize,
) -> Vec<Sampled> {
    let mut sums = vec![Sampled::default(); groups];
    // For each block the nearest of those that are looked at: itself, or what dominates it.
    let mut nearest = vec![UNKNOWN; catalogue.len()];
    let mut looked_at = vec![NO_SAMPLE; catalogue.len()];
    for (place, (block, group)) in (0..).zip(blocks) {
        if heap.graph.is_reachable(*block) && (*group as usize) < groups {
            looked_at[block.0 as usize] = place;
        }
    }
    let mut parents = vec![UNKNOWN; blocks.len()];
    let mut way: Vec<u32> = Vec::new();
    for (place, (block, _)) in (0u32..).zip(blocks) {
        if looked_at.get(block.0 as usize) != Some(&place) {
            continue;
        }
        let mut at = *block;
        let mut found = NO_SAMPLE;
        while let Some(Node::Block(dominator)) = heap.graph.dominator(Node::Block(at)) {
            at = dominator;
            if looked_at[at.0 as usize] != NO_SAMPLE {
                found = looked_at[at.0 as usize];
                break;
            }
            if nearest[at.0 as usize] != UNKNOWN {
                found = nearest[at.0 as usize];
                break;
            }
            way.push(at.0);
        }
        for block in way.drain(..) {
            nearest[block as usize] = found;
        }
        parents[place as usize] = found;
    }
    drop((nearest, looked_at));
    each_below(&parents, blocks, groups, |place, is_outermost| {
        let (block, group) = blocks[place];
        let sum = &mut sums[group as usize];
        let retained = catalogue.retained(heap, block);
        sum.blocks += 1;
        sum.own.0 += catalogue.size(block).0;
        if is_outermost {
            sum.retained.0 += retained.0;
        }
        if sum.example.is_none() || retained.0 > sum.example_words {
            (sum.example, sum.example_words) = (Some(block), retained.0);
        }
    });
    sums
}

/// Goes through a forest from above, and says of each member whether it is the first of its group
/// on its way from the top.
fn each_below(
    parents: &[u32],
    blocks: &[(BlockIndex, u32)],
    groups: usize,
    mut each: impl FnMut(usize, bool),
) {
    let mut first = vec![NO_SAMPLE; blocks.len()];
    let mut next = vec![NO_SAMPLE; blocks.len()];
    let mut tops = Vec::new();
    for place in (0..blocks.len() as u32).rev() {
        match parents[place as usize] {
            UNKNOWN => {}
            NO_SAMPLE => tops.push(place),
            parent => {
                next[place as usize] = first[parent as usize];
                first[parent as usize] = place;
            }
        }
    }
    let mut open = vec![0u32; groups];
    // Each is met twice: going in, and coming out.
    let mut todo: Vec<(u32, bool)> = Vec::new();
    for top in tops.into_iter().rev() {
        todo.push((top, false));
        while let Some((place, is_done)) = todo.pop() {
            let group = blocks[place as usize].1 as usize;
            let Some(inside) = open.get_mut(group) else { continue };
            if is_done {
                *inside -= 1;
                continue;
            }
            each(place as usize, *inside == 0);
            *inside += 1;
            todo.push((place, true));
            let mut child = first[place as usize];
            while child != NO_SAMPLE {
                todo.push((child, false));
                child = next[child as usize];
            }
        }
    }
}
