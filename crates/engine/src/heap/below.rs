//! Which of some blocks nodes of the dominator tree dominate.

use std::collections::HashSet;

use memtrail_heap::BlockIndex;
use memtrail_heap::graph::Node;
use memtrail_heap::query::{self, TreeItem};

use super::loaded::LoadedSnapshot;
use super::node::Place;

/// Those of some blocks that would be freed without a place.
pub(super) fn below(
    loaded: &LoadedSnapshot,
    place: &Place,
    blocks: impl Iterator<Item = BlockIndex>,
) -> HashSet<BlockIndex> {
    let heap = loaded.heap();
    let targets: HashSet<Node> = if place.kinds.is_empty() {
        HashSet::from([place.node])
    } else {
        let members =
            query::group_members(heap, &loaded.catalogue, &place.shapes, place.shape).into_iter();
        let node = |item| match item {
            TreeItem::Block(block) => Some(Node::Block(block)),
            TreeItem::Shape(_) => None,
        };
        members.filter_map(|member| node(member.item)).collect()
    };
    // Many blocks hang from the same ones: each of these is looked at once.
    let mut known: Vec<Verdict> = vec![Verdict::Unknown; loaded.catalogue.len()];
    let mut chain: Vec<usize> = Vec::new();
    let is_below = |block: &BlockIndex| {
        let mut at = Some(Node::Block(*block));
        chain.clear();
        let verdict = loop {
            let Some(node) = at else { break Verdict::Outside };
            if targets.contains(&node) {
                break Verdict::Below;
            }
            if let Node::Block(block) = node {
                match known.get(block.0 as usize) {
                    Some(Verdict::Unknown) => chain.push(block.0 as usize),
                    Some(verdict) => break *verdict,
                    None => break Verdict::Outside,
                }
            }
            at = heap.graph.dominator(node);
        };
        for block in &chain {
            known[*block] = verdict;
        }
        verdict == Verdict::Below
    };
    blocks.filter(is_below).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Unknown,
    Below,
    Outside,
}
