//! What keeps what alive: the dominators of every block, and the size of what each retains.
//!
//! A block *dominates* another if every way from a root to that one leads through it: it alone keeps
//! the other alive. What a block dominates is what would be freed with it: its *retained* size.
//!
//! # How
//!
//! Heaps of OCaml programs are mostly trees: nine blocks of ten are pointed to by one other, which
//! thereby dominates them. So
//! 1. for each block the only one that points to it is found, or that there are several ([`parents`]);
//! 2. each tree of blocks with a single parent is folded into the shared block at its top, which
//!    leaves a graph a tenth in size ([`mod@core`]);
//! 3. its dominators are computed ([`semi_nca`]);
//! 4. they are carried back to the blocks of the trees ([`refine`]);
//! 5. sizes are summed up from below ([`retained`]).
//!
//! All of it is exact. None of it recurses.
//!
//! # What counts
//!
//! - Above the blocks stand the *holders*: one above all, one for each kind of root, one for each
//!   label, in the tree that the labels form. So a thread, a frame and a slot of it each have their
//!   retained size.
//! - Static data is never freed: nothing but its holder dominates it.
//! - Keys of ephemerons and elements of weak arrays are not kept. The data of an ephemeron lives
//!   while the ephemeron and all its keys do, and is charged to the key (to the first, of several).
//!   That is exact for what would be freed with that key; what would be freed with another key or
//!   the ephemeron is not told here, as a tree cannot hold several. [`Graph::freed`] counts it.
//! - A value with a `Gc.finalise` is charged to the finaliser if nothing else keeps it.

mod bits;
mod core;
mod csr;
mod disjoint;
mod ephemerons;
mod external;
mod freed;
mod index;
mod nodes;
mod parents;
mod reach;
mod reach_each;
mod refine;
mod retained;
mod semi_nca;
pub(crate) mod sweep;

pub use freed::{Freed, Gone};
pub use nodes::{EVERYTHING, Holder, HolderId, Holders};

use std::sync::atomic::{AtomicU32, Ordering};

use crate::read::{Cause, Error, Snapshot, Strength};
use crate::units::{BlockIndex, Bytes, Words};
use bits::{Bits, Ranked};
use csr::Csr;
use external::External;
use retained::Sizes;

/// No block.
pub(crate) const NONE: u32 = u32::MAX;
/// Several blocks.
pub(crate) const SHARED: u32 = u32::MAX - 1;

/// A block, or a holder above the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A block.
    Block(BlockIndex),
    /// A holder.
    Holder(HolderId),
}

/// The dominators and retained sizes of a snapshot.
#[derive(Clone, Debug)]
pub struct Graph {
    holders: Holders,
    /// For each block what dominates it: blocks by number, holders behind them.
    dominators: Vec<u32>,
    /// For each holder the one above.
    above: Vec<u32>,
    sizes: Sizes,
    held: Vec<u64>,
    heads: Ranked,
    /// Of each head: the block that points to it on a way from a root with the fewest heads, or the
    /// holder.
    via: Vec<u32>,
    /// Of each head: words of the tree of blocks that hangs from it, itself counted.
    weights: Vec<u64>,
    external: External,
    /// Edges of the core that stand for ephemerons, in order of the nodes that they leave: they are
    /// the last ones of each.
    conditional: Vec<core::Conditional>,
    core: Csr,
}

impl Graph {
    /// Computes them, on so many threads.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn new(snapshot: &Snapshot<'_>, threads: usize) -> Result<Self, Error> {
        let holders = Holders::new(&snapshot.labels);
        let blocks = snapshot.blocks();
        if (holders.len() as u64) + u64::from(blocks) >= u64::from(SHARED) {
            return Err(Cause::Table("labels").at(0));
        }
        let parents::Apart { statics, large, customs } = parents::apart(snapshot, threads)?;
        let heads = || {
            let strong = |strength| matches!(strength, Strength::Strong | Strength::Finaliser);
            let roots = snapshot.roots.iter().filter(move |root| strong(root.strength));
            let data = snapshot.ephemerons.iter().filter_map(|ephemeron| ephemeron.data);
            roots.map(|root| root.block.0).chain(data.map(|data| data.0))
        };
        let mut parents = Vec::new();
        parents::parents(snapshot, &statics, heads(), &mut parents, threads)?;
        let mut shared = Bits::new(blocks as usize);
        for (block, parent) in (0..).zip(&parents) {
            if *parent == SHARED {
                shared.insert(block);
            }
        }
        let numbers = core::Numbers { holders, heads: Ranked::new(shared) };
        parents::climb_to_heads(&mut parents);
        let heads_of = parents;

        let (mut edges, weights) = core::edges(snapshot, &numbers, &heads_of, &statics, threads)?;
        let needed = !snapshot.ephemerons.is_empty()
            || snapshot.roots.iter().any(|root| root.strength == Strength::Finaliser);
        let mut graph = Csr::from_edges(numbers.len(), edges.iter());
        let mut conditional = Vec::new();
        if needed {
            let more = core::more(snapshot, &numbers, &heads_of, &statics, &graph);
            conditional = more.conditional;
            // Those with conditions come last, so that they are the last of each node's edges.
            let keys = conditional.iter().map(|edge| (edge.node, edge.to));
            for edge in more.finalisers.into_iter().chain(keys) {
                edges.push(edge);
            }
            graph = Csr::from_edges(numbers.len(), edges.iter());
        }
        drop(edges);
        let outside = external::weights(&customs, &numbers, &heads_of);
        let tree = semi_nca::dominators(&graph, EVERYTHING.0);
        let before = reach::shortest(&graph);
        let (mut exits, mut via) =
            exits(snapshot, &numbers, &heads_of, &statics, &tree, &before, threads)?;
        for (head, before) in via.iter_mut().zip(&before[holders.len()..]) {
            if *before != NONE && numbers.is_holder(*before) {
                *head = blocks + before;
            }
        }
        for core::Conditional { from, node, to } in conditional.iter().copied() {
            if before[to as usize] == node {
                via[to as usize - holders.len()] = from;
            }
            if tree.idom[to as usize] == node {
                if numbers.head(node) == Some(from) {
                    exits.settled.push(to);
                } else {
                    exits.pairs.push((from, to));
                }
            }
        }
        drop(before);
        let mut unreached = Bits::new(blocks as usize);
        for (block, head) in (0..).zip(&heads_of) {
            let head = if *head == SHARED { block } else { *head };
            if head == NONE || tree.idom[numbers.of_head(head) as usize] == NONE {
                unreached.insert(block);
            }
        }

        let mut dominators = heads_of;
        parents::parents(snapshot, &statics, heads(), &mut dominators, threads)?;
        let of_heads = refine::refine(&numbers, &graph, &tree, &dominators, exits);
        for (block, dominator) in numbers.heads.bits().iter().zip(of_heads) {
            dominators[block as usize] = dominator;
        }
        for block in unreached.iter() {
            dominators[block as usize] = NONE;
        }
        drop(tree);
        let above: Vec<u32> = (0..holders.len() as u32)
            .map(|holder| {
                holders.parent(HolderId(holder), &snapshot.labels).map_or(NONE, |above| above.0)
            })
            .collect();
        let (sizes, held) = retained::retained(snapshot, &dominators, &above, &large)?;
        let (bytes, held_bytes) = external::retained(&customs, &dominators, &above);
        let external = External { sizes: bytes, held: held_bytes, weights: outside };
        Ok(Self {
            holders,
            dominators,
            above,
            sizes,
            held,
            heads: numbers.heads,
            via,
            weights,
            external,
            conditional,
            core: graph,
        })
    }

    /// The nodes above the blocks.
    pub fn holders(&self) -> &Holders {
        &self.holders
    }

    /// Whether anything keeps a block alive.
    pub fn is_reachable(&self, block: BlockIndex) -> bool {
        self.dominators.get(block.0 as usize).is_some_and(|dominator| *dominator != NONE)
    }

    /// What dominates a block or holder; nothing does the one above all and what is unreachable.
    pub fn dominator(&self, node: Node) -> Option<Node> {
        match node {
            Node::Block(block) => self.node(*self.dominators.get(block.0 as usize)?),
            Node::Holder(holder) => match *self.above.get(holder.0 as usize)? {
                NONE => None,
                above => Some(Node::Holder(HolderId(above))),
            },
        }
    }

    /// What points to a block, on a way from a root that leads over as few shared blocks as can be.
    pub fn toward_root(&self, block: BlockIndex) -> Option<Node> {
        if !self.is_reachable(block) {
            return None;
        }
        if self.heads.contains(block.0) {
            self.node(*self.via.get(self.heads.rank(block.0) as usize)?)
        } else {
            self.node(self.dominators[block.0 as usize])
        }
    }

    fn node(&self, number: u32) -> Option<Node> {
        let blocks = self.dominators.len() as u32;
        match number {
            NONE => None,
            block if block < blocks => Some(Node::Block(BlockIndex(block))),
            holder => Some(Node::Holder(HolderId(holder - blocks))),
        }
    }

    /// What a block retains, itself counted, if that is more than itself or it is large. Of the
    /// others it is their own size, which the snapshot has.
    pub fn retained(&self, block: BlockIndex) -> Option<Words> {
        if block.0 as usize >= self.dominators.len() {
            return None;
        }
        self.sizes.get(block.0)
    }

    /// What a holder retains: the blocks that none but it and what is below it keeps alive.
    pub fn held(&self, holder: HolderId) -> Words {
        Words(self.held.get(holder.0 as usize).copied().unwrap_or(0))
    }

    /// The bytes outside the heap (of bigarrays, for example) that would be freed with a block: its
    /// own, and those of what it retains.
    pub fn external(&self, block: BlockIndex) -> Bytes {
        if block.0 as usize >= self.dominators.len() {
            return Bytes(0);
        }
        self.external.get(block.0)
    }

    /// The bytes outside the heap that go with what a holder retains.
    pub fn held_external(&self, holder: HolderId) -> Bytes {
        Bytes(self.external.held.get(holder.0 as usize).copied().unwrap_or(0))
    }

    /// The block or holder at the top of the tree that a block is in, as a node of the core.
    fn core_node(&self, block: u32) -> Option<u32> {
        let mut at = block;
        while !self.heads.contains(at) {
            at = *self.dominators.get(at as usize)?;
            if at as usize >= self.dominators.len() {
                return None;
            }
        }
        Some(self.holders.len() as u32 + self.heads.rank(at))
    }
}

/// Collects the edges to shared blocks that leave the tree of the head that dominates them, and for
/// each head a block that points to it from the tree of the head `before` it.
fn exits(
    snapshot: &Snapshot<'_>,
    numbers: &core::Numbers,
    heads: &[u32],
    statics: &Bits,
    tree: &semi_nca::Tree,
    before: &[u32],
    threads: usize,
) -> Result<(refine::Exits, Vec<u32>), Error> {
    let via: Vec<AtomicU32> = (0..numbers.heads.len()).map(|_| AtomicU32::new(NONE)).collect();
    let gathered = sweep::sweep(snapshot, threads, refine::Exits::default, |exits, _, columns| {
        core::shared_edges(columns, heads, statics, |from, head, to| {
            let rank = numbers.heads.rank(to) as usize;
            let to = (rank + numbers.holders.len()) as u32;
            let head_node = numbers.of_head(head);
            if before[to as usize] == head_node {
                via[rank].fetch_min(from, Ordering::Relaxed);
            }
            if tree.idom[to as usize] == head_node {
                if from == head {
                    exits.settled.push(to);
                } else {
                    exits.pairs.push((from, to));
                }
            }
        });
    })?;
    let mut all = refine::Exits::default();
    for mut exits in gathered {
        all.pairs.append(exits.pairs);
        all.settled.append(&mut exits.settled);
    }
    Ok((all, via.into_iter().map(AtomicU32::into_inner).collect()))
}
