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
//! 2. each tree of blocks with a single parent is folded into the shared block at its top, and the
//!    edges to shared blocks are gathered ([`cross_edges`]): a graph a tenth in size ([`mod@core`]);
//! 3. its dominators are computed ([`semi_nca`]);
//! 4. they are carried back to the blocks of the trees ([`refine`], [`meet`]);
//! 5. sizes are summed up from below ([`retained`]), in the heap and outside ([`external`]).
//!
//! All of it is exact. None of it recurses. The snapshot is decoded three times. What has a number
//! for each block or shared block is a column, which may stand in a file ([`mod@column`]): so heaps
//! larger than memory take the same way, with the same result.
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
//!   the ephemeron is not told here, as a tree cannot hold several. [`Graph::freed`] counts it. What
//!   holders retain is corrected for it.
//! - A value with a `Gc.finalise` is charged to the finaliser if nothing else keeps it. The function
//!   is charged to the value ([`finalisers`]).

mod bits;
mod chunk_buffer;
pub(crate) mod column;
mod core;
mod cross_edges;
mod csr;
mod cycles;
mod disjoint;
mod ephemerons;
mod external;
mod finalisers;
mod freed;
mod index;
mod meet;
mod nodes;
mod packed;
mod parents;
pub(crate) mod pieces;
mod reach;
mod reach_each;
mod refine;
mod retained;
mod semi_nca;
pub(crate) mod sweep;

pub use freed::{FreedSize, RemovalSet};
pub use nodes::{Holders, RootNode, RootNodeId, SUPER_ROOT};

use std::sync::atomic::{AtomicU32, Ordering};

use crate::read::{Cause, Error, Snapshot, Strength};
use crate::units::{BlockIndex, Bytes, Words};
use bits::Ranked;
use column::{Column, Place, into_atomic, into_plain};
use cross_edges::Weights;
use csr::Csr;
use external::External;
use packed::Packed;
use pieces::in_pieces;
use retained::Sizes;

/// No block.
pub(crate) const NONE: u32 = u32::MAX;
/// Several blocks.
pub(crate) const SHARED: u32 = u32::MAX - 1;

/// Why an analysis within bounded memory did not come to an end.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The snapshot is damaged.
    #[error(transparent)]
    Snapshot(#[from] Error),
    /// There is no room for the files that what does not fit into memory is put into.
    #[error("cannot put aside what does not fit into memory: {0}")]
    MappedArena(#[from] std::io::Error),
}

/// A block, or a holder above the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A block.
    Block(BlockIndex),
    /// A holder.
    RootNode(RootNodeId),
}

/// The dominators and retained sizes of a snapshot.
#[derive(Debug)]
pub struct Graph {
    root_nodes: Holders,
    /// For each block what dominates it: blocks by number, holders behind them.
    dominators: Column<u32>,
    /// For each holder the one above.
    above: Vec<u32>,
    sizes: Sizes,
    held: Vec<u64>,
    tree_roots: Ranked,
    /// Of each head: the block that points to it on a way from a root with the fewest heads, or the
    /// holder.
    predecessor: Column<u32>,
    /// Of each head: words of the tree of blocks that hangs from it, itself counted.
    weights: Weights,
    external: External,
    /// Edges of the core that stand for ephemerons and finalisers, in order of the nodes that they leave: they are
    /// the last ones of each.
    conditional: Vec<core::Conditional>,
    core: Csr,
    /// The index that columns are in, if they were read from one.
    #[cfg(feature = "mmap")]
    index: Option<memtrail_map::Extent>,
}

impl Graph {
    /// Computes them, on so many threads.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn new(snapshot: &Snapshot<'_>, threads: usize) -> Result<Self, Error> {
        Self::in_place(&Place::Memory, snapshot, threads).map_err(|failed| match failed {
            Failed::Snapshot(error) => error,
            // Columns in memory are always made.
            Failed::MappedArena(_) => Cause::Missing("memory").at(0),
        })
    }

    /// Computes the same while the process uses no more than about `memory`: what is larger is in
    /// files without names in the folder `scratch`, also those of the result. The snapshot counts if
    /// it is mapped and given as `map`.
    ///
    /// What cannot be given back are a bit a block for each of some sets, and the snapshot's tables.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged, or the files cannot be made.
    #[cfg(feature = "mmap")]
    pub fn new_bounded(
        snapshot: &Snapshot<'_>,
        map: Option<&memtrail_map::MappedFile>,
        memory: Bytes,
        scratch: &std::path::Path,
        threads: usize,
    ) -> Result<Self, Failed> {
        let scratch = crate::mapped_arena::MappedArena::new(scratch, memory)?;
        let _watched = map.map(|map| scratch.snapshot(map));
        Self::in_place(&Place::MappedArena(scratch), snapshot, threads)
    }

    fn in_place(place: &Place, snapshot: &Snapshot<'_>, threads: usize) -> Result<Self, Failed> {
        let root_nodes = Holders::new(&snapshot.labels);
        let blocks = snapshot.blocks();
        if (root_nodes.len() as u64) + u64::from(blocks) >= u64::from(SHARED) {
            return Err(Cause::Table("labels").at(0).into());
        }
        let strong = |strength| matches!(strength, Strength::Strong | Strength::Finaliser);
        let roots = snapshot.roots.iter().filter(|root| strong(root.strength));
        let data = snapshot.ephemerons.iter().filter_map(|ephemeron| ephemeron.data);
        let tree_roots = roots.map(|root| root.block.0).chain(data.map(|data| data.0));
        let (parents, apart) = parents::parents(place, snapshot, tree_roots, threads)?;
        let parents::Apart { statics, large, customs } = apart;
        let numbers =
            core::Numbers { root_nodes, tree_roots: parents::tree_roots(&parents, threads) };
        let packed = Packed::new(place, &parents, threads)?;
        parents::climb_to_heads(&parents, threads);
        let heads_of = into_plain(parents);

        let (edges, weights) =
            cross_edges::cross_edges(place, snapshot, &numbers, &heads_of, &statics, threads)?;
        let needed = !snapshot.ephemerons.is_empty()
            || snapshot.roots.iter().any(|root| root.strength == Strength::Finaliser)
            || snapshot.roots.iter().any(|root| root.strength == Strength::Last);
        let waiting = finalisers::finalisers(snapshot, |block| !statics.contains(block));
        let parts = core::Parts { snapshot, numbers: &numbers, statics: &statics };
        let mut graph = core::graph(place, &parts, &edges, &waiting, &[])?;
        let mut conditional = Vec::new();
        if needed {
            let more = core::more(&parts, &heads_of, &graph, &waiting);
            conditional = more.conditional;
            // Those with conditions come last, so that they are the last of each node's edges.
            let keys = conditional.iter().map(|edge| (edge.node, edge.to));
            let more: Vec<_> = more.finalisers.into_iter().chain(keys).collect();
            drop(graph);
            graph = core::graph(place, &parts, &edges, &waiting, &more)?;
        }
        let outside = external::weights(&customs, &numbers, &heads_of);
        let column = into_atomic(heads_of);
        let (tree, before) = both(
            threads,
            || semi_nca::dominators(place, &graph, SUPER_ROOT.0),
            || {
                let before = reach::shortest(place, &graph)?;
                restore(&column, &packed, &numbers, &before, threads);
                drop(packed);
                Ok::<_, std::io::Error>(before)
            },
        );
        let (tree, before) = (tree?, before?);
        let mut dominators = into_plain(column);
        let (mut cross_edges, mut predecessor) =
            cross_edges::toward(&edges, place, &numbers, &tree, &before, threads)?;
        drop(edges);
        for (head, before) in predecessor.iter_mut().zip(&before[root_nodes.len()..]) {
            if *before != NONE && numbers.is_holder(*before) {
                *head = blocks + before;
            }
        }
        for core::Conditional { from, node, to, .. } in conditional.iter().copied() {
            if before[to as usize] == node {
                predecessor[to as usize - root_nodes.len()] = from;
            }
            if tree.idom[to as usize] == node {
                if numbers.head(node) == Some(from) {
                    cross_edges.settled.push(to);
                } else {
                    cross_edges.add(from, to, root_nodes.len());
                }
            }
        }
        drop(before);

        let of_heads = refine::refine(place, &numbers, &graph, &tree, &dominators, cross_edges)?;
        for (block, dominator) in numbers.tree_roots.bits().iter().zip(of_heads.iter()) {
            dominators[block as usize] = *dominator;
        }
        drop(tree);
        let above: Vec<u32> = (0..root_nodes.len() as u32)
            .map(|root_node| {
                root_nodes
                    .parent(RootNodeId(root_node), &snapshot.labels)
                    .map_or(NONE, |above| above.0)
            })
            .collect();
        let (sizes, held) =
            retained::retained(place, snapshot, &dominators, &above, &large, threads)?;
        let (bytes, held_bytes) = external::retained(place, &customs, &dominators, &above)?;
        let external = External { sizes: bytes, held: held_bytes, weights: outside };
        let mut graph = Self {
            root_nodes,
            dominators,
            above,
            sizes,
            held,
            tree_roots: numbers.tree_roots,
            predecessor,
            weights,
            external,
            conditional,
            core: graph,
            #[cfg(feature = "mmap")]
            index: None,
        };
        graph.correct_held(snapshot, threads)?;
        Ok(graph)
    }

    /// Whether the index that this was opened from has not been cut short since: otherwise, no question
    /// must be asked any more.
    #[cfg_attr(not(feature = "mmap"), allow(clippy::unused_self, reason = "nothing is mapped"))]
    pub fn is_whole(&self) -> bool {
        #[cfg(feature = "mmap")]
        return self.index.as_ref().is_none_or(memtrail_map::Extent::is_whole);
        #[cfg(not(feature = "mmap"))]
        true
    }

    /// The nodes above the blocks.
    pub fn root_nodes(&self) -> &Holders {
        &self.root_nodes
    }

    /// Whether anything keeps a block alive.
    pub fn is_reachable(&self, block: BlockIndex) -> bool {
        self.dominators.get(block.0 as usize).is_some_and(|dominator| *dominator != NONE)
    }

    /// What dominates a block or holder; nothing does the one above all and what is unreachable.
    pub fn dominator(&self, node: Node) -> Option<Node> {
        match node {
            Node::Block(block) => self.node(*self.dominators.get(block.0 as usize)?),
            Node::RootNode(root_node) => match *self.above.get(root_node.0 as usize)? {
                NONE => None,
                above => Some(Node::RootNode(RootNodeId(above))),
            },
        }
    }

    /// What points to a block, on a way from a root that leads over as few shared blocks as can be.
    pub fn toward_root(&self, block: BlockIndex) -> Option<Node> {
        if !self.is_reachable(block) {
            return None;
        }
        if self.tree_roots.contains(block.0) {
            self.node(*self.predecessor.get(self.tree_roots.rank(block.0) as usize)?)
        } else {
            self.node(self.dominators[block.0 as usize])
        }
    }

    fn node(&self, number: u32) -> Option<Node> {
        let blocks = self.dominators.len() as u32;
        match number {
            NONE => None,
            block if block < blocks => Some(Node::Block(BlockIndex(block))),
            root_node => Some(Node::RootNode(RootNodeId(root_node - blocks))),
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
    pub fn held(&self, root_node: RootNodeId) -> Words {
        Words(self.held.get(root_node.0 as usize).copied().unwrap_or(0))
    }

    /// Whether what is said of single blocks is exact for all of them: no ephemeron has data that
    /// something alone keeps alive. Otherwise [`Graph::freed`] is.
    pub fn is_exact(&self) -> bool {
        self.conditional.iter().all(|edge| edge.why == core::Why::Finaliser)
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
    pub fn held_external(&self, root_node: RootNodeId) -> Bytes {
        Bytes(self.external.held.get(root_node.0 as usize).copied().unwrap_or(0))
    }

    /// For each block the nearest one above it in its tree that is the tree's top or is `cut` there;
    /// [`SHARED`] for these themselves.
    fn tops(&self, cut: impl Fn(u32) -> bool + Sync, threads: usize) -> Vec<u32> {
        let blocks = self.dominators.len() as u32;
        let tops: Vec<AtomicU32> = (0..blocks).map(|_| AtomicU32::new(NONE)).collect();
        in_pieces(tops.len(), threads, |range| {
            for block in range {
                let top = match self.dominators[block] {
                    _ if self.tree_roots.contains(block as u32) || cut(block as u32) => SHARED,
                    above if above < blocks => above,
                    _ => NONE,
                };
                tops[block].store(top, Ordering::Relaxed);
            }
        });
        parents::climb_to_heads(&tops, threads);
        tops.into_iter().map(AtomicU32::into_inner).collect()
    }

    /// The block or holder at the top of the tree that a block is in, as a node of the core.
    fn core_node(&self, block: u32) -> Option<u32> {
        let mut at = block;
        while !self.tree_roots.contains(at) {
            at = *self.dominators.get(at as usize)?;
            if at as usize >= self.dominators.len() {
                return None;
            }
        }
        Some(self.root_nodes.len() as u32 + self.tree_roots.rank(at))
    }
}

/// Does two things, at once if there are threads for it.
fn both<A: Send, B>(threads: usize, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B) -> (A, B) {
    if threads <= 1 {
        return (a(), b());
    }
    std::thread::scope(|scope| {
        let a = scope.spawn(a);
        let b = b();
        match a.join() {
            Ok(a) => (a, b),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Puts parents back in the place of heads, [`NONE`] for blocks of trees that nothing reaches: with
/// nothing `before` them.
fn restore(
    column: &[AtomicU32],
    packed: &Packed,
    numbers: &core::Numbers,
    before: &[u32],
    threads: usize,
) {
    in_pieces(column.len(), threads, |range| {
        // Neighbours are often in the same tree.
        let (mut last, mut reached) = (NONE, false);
        packed.each(range, |block, parent| {
            let head = match column[block].load(Ordering::Relaxed) {
                SHARED => block as u32,
                head => head,
            };
            if head != last {
                last = head;
                reached = head != NONE && before[numbers.of_head(head) as usize] != NONE;
            }
            let parent = if reached || parent == SHARED { parent } else { NONE };
            column[block].store(parent, Ordering::Relaxed);
        });
    });
}
