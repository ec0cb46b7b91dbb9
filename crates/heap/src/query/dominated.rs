//! What a block or root node dominates directly, grouped by kind so that a hundred thousand children
//! stay readable.

use hashbrown::HashMap;
use memtrail_order::SortRows as _;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::heap::Heap;
use super::kind::{self, Kind};
use super::names::root_name;
use crate::graph::passes::sweep;
use crate::graph::{Node, RootNodeId};
use crate::read::{Detail, Error};
use crate::units::{BlockIndex, Bytes, Words};

/// The children of a node of the dominator tree.
#[derive(Clone, Debug, Serialize)]
pub struct Dominated {
    /// Root nodes below, those that retain most first.
    pub root_nodes: Vec<DominatedRoot>,
    /// Blocks below by kind, the kinds that retain most first.
    pub groups: Vec<Group>,
}

/// A root node below another.
#[derive(Clone, Debug, Serialize)]
pub struct DominatedRoot {
    /// Its number.
    pub root: RootNodeId,
    /// Its name.
    pub name: String,
    /// What it retains.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
}

/// Children of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// What sort of blocks.
    pub kind: String,
    /// How many.
    pub blocks: u64,
    /// Their own size.
    pub bytes: Bytes,
    /// What they retain, themselves counted.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// The one that retains most.
    pub largest: BlockIndex,
    /// What that retains.
    pub largest_retained: Bytes,
}

#[derive(Clone, Copy)]
struct Sum {
    blocks: u64,
    words: u64,
    retained: u64,
    external: Bytes,
    largest: (u64, BlockIndex),
}

/// The children of a node of the dominator tree.
///
/// # Errors
/// If a section of the snapshot is damaged.
pub fn dominated(heap: &Heap<'_>, node: Node) -> Result<Dominated, Error> {
    let graph = &heap.graph;
    let gathered = sweep(
        &heap.snapshot,
        heap.threads,
        Detail::Edges,
        HashMap::<Kind, Sum, FxBuildHasher>::default,
        |sums, _, columns| {
            let first = columns.first.0;
            let mine = |block| graph.dominator(Node::Block(block)) == Some(node);
            if !(first..first + columns.len() as u32).any(|block| mine(BlockIndex(block))) {
                return;
            }
            kind::each(heap, columns, |block, kind, _| {
                if mine(block.index) {
                    let retained = graph.retained(block.index).unwrap_or(block.size()).0;
                    add(
                        sums,
                        kind,
                        Sum {
                            blocks: 1,
                            words: block.size().0,
                            retained,
                            external: graph.external(block.index),
                            largest: (retained, block.index),
                        },
                    );
                }
            });
        },
    )?;
    let mut sums = HashMap::default();
    for (kind, sum) in gathered.into_iter().flatten() {
        add(&mut sums, kind, sum);
    }
    let mut groups: Vec<Group> = sums
        .into_iter()
        .map(|(kind, sum)| Group {
            kind: kind.name(&heap.snapshot, &heap.types),
            blocks: sum.blocks,
            bytes: Words(sum.words).bytes(),
            retained: Words(sum.retained).bytes(),
            retained_external: sum.external,
            largest: sum.largest.1,
            largest_retained: Words(sum.largest.0).bytes(),
        })
        .collect();
    groups.sort_rows_by(|a, b| b.retained.cmp(&a.retained).then_with(|| a.kind.cmp(&b.kind)));
    let mut root_nodes: Vec<DominatedRoot> = (0..graph.root_nodes().len() as u32)
        .map(RootNodeId)
        .filter(|root_node| graph.dominator(Node::RootNode(*root_node)) == Some(node))
        .map(|root_node| {
            let name = root_name(&heap.snapshot.labels, graph.root_nodes(), root_node);
            let retained = graph.held(root_node).bytes();
            let retained_external = graph.held_external(root_node);
            DominatedRoot { root: root_node, name, retained, retained_external }
        })
        .filter(|root| root.retained.0 > 0)
        .collect();
    root_nodes.sort_rows_by(|a, b| b.retained.cmp(&a.retained).then(a.root.cmp(&b.root)));
    Ok(Dominated { root_nodes, groups })
}

fn add(sums: &mut HashMap<Kind, Sum, FxBuildHasher>, kind: Kind, more: Sum) {
    sums.entry(kind)
        .and_modify(|sum| {
            sum.blocks += more.blocks;
            sum.words += more.words;
            sum.retained += more.retained;
            sum.external += more.external;
            // The lowest number of those that are equally large, whatever order they came in.
            if (more.largest.0, std::cmp::Reverse(more.largest.1))
                > (sum.largest.0, std::cmp::Reverse(sum.largest.1))
            {
                sum.largest = more.largest;
            }
        })
        .or_insert(more);
}
