//! The analysis of a snapshot, step by step.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::analysis::Graph;
use super::column::{Column, Place, into_atomic, into_plain};
use super::core::{self, Conditional, Parts};
use super::cross_edges::{self, CrossEdges, Gathered};
use super::csr::Csr;
use super::error::Failed;
use super::external::{self, External};
use super::finalisers;
use super::nodes::{NO_BLOCK, RootNodeId, RootNodes, SHARED, SUPER_ROOT};
use super::numbering::Numbers;
use super::owners;
use super::packed::Packed;
use super::parents::{self, Apart};
use super::passes::{both, in_pieces};
use super::reach;
use super::refine;
use super::retained;
use super::semi_nca::{self, Tree};
use crate::label::{Labels, Strength};
use crate::read::{Cause, Error, Snapshot};
#[cfg(feature = "mmap")]
use crate::units::Bytes;

impl Graph {
    /// Analyses a snapshot, on so many threads.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn new(snapshot: &Snapshot<'_>, threads: usize) -> Result<Self, Error> {
        build(&Place::Memory, snapshot, threads).map_err(Failed::in_memory)
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
        build(&Place::MappedArena(scratch), snapshot, threads)
    }
}

fn build(place: &Place, snapshot: &Snapshot<'_>, threads: usize) -> Result<Graph, Failed> {
    let Trees { numbers, packed, heads_of, apart } = find_trees(place, snapshot, threads)?;
    let root_nodes = numbers.root_nodes;
    let statics = &apart.statics;
    let Gathered { shared: edges, statics: static_edges, weights, mut globals } =
        cross_edges::cross_edges(place, snapshot, &numbers, &heads_of, statics, threads)?;
    globals.sort();
    let parts = Parts { snapshot, numbers: &numbers, statics };
    let (core, conditional) = build_core(place, &parts, &heads_of, &edges)?;
    let outside = external::weights(&apart.customs, &numbers, &heads_of);
    let owners = owners::owners(
        place,
        &parts,
        &core,
        owners::Edges { shared: &edges, statics: &static_edges, conditional: &conditional },
        &globals,
    )?;
    drop(static_edges);
    let CoreDominators { tree, before, parents } =
        dominate_core(place, &core, heads_of, packed, &numbers, threads)?;
    let (tree_edges, predecessor) = find_tree_edges(
        place,
        CoreEdges { numbers: &numbers, edges, conditional: &conditional, tree: &tree },
        &before,
        parents.len() as u32,
        threads,
    )?;
    drop(before);
    let dominators = dominate_blocks(place, &numbers, &core, tree, parents, tree_edges)?;
    let root_parents = root_parents(root_nodes, &snapshot.labels);
    let Apart { large, customs, .. } = &apart;
    let (sizes, held) =
        retained::retained(place, snapshot, &dominators, &root_parents, large, threads)?;
    let (bytes, held_bytes) = external::retained(place, customs, &dominators, &root_parents)?;
    let external = External { sizes: bytes, held: held_bytes, weights: outside };
    let tree_roots = numbers.tree_roots;
    let mut graph = Graph {
        root_nodes,
        dominators,
        root_parents,
        sizes,
        held,
        tree_roots,
        predecessor,
        weights,
        external,
        conditional,
        core,
        owners,
        nodes_of_conditions: OnceLock::new(),
        modules: globals.into_modules(),
        #[cfg(feature = "mmap")]
        index: None,
    };
    graph.correct_held(snapshot, threads)?;
    Ok(graph)
}

/// The trees of blocks with a single parent.
struct Trees {
    numbers: Numbers,
    /// The parents, while `heads_of` has taken their place.
    packed: Packed,
    /// For each block the tree root that it hangs from.
    heads_of: Column<u32>,
    apart: Apart,
}

/// Step 1: finds the parents of all blocks, and the tops of the trees that they make.
fn find_trees(place: &Place, snapshot: &Snapshot<'_>, threads: usize) -> Result<Trees, Failed> {
    let root_nodes = RootNodes::new(&snapshot.labels);
    if (root_nodes.len() as u64) + u64::from(snapshot.blocks()) >= u64::from(SHARED) {
        return Err(Cause::Table("labels").at(0).into());
    }
    let strong = |strength| matches!(strength, Strength::Strong | Strength::Finaliser);
    let roots = snapshot.roots.iter().filter(|root| strong(root.strength));
    let data = snapshot.ephemerons.iter().filter_map(|ephemeron| ephemeron.data);
    let tree_roots = roots.map(|root| root.block.0).chain(data.map(|data| data.0));
    let (parents, apart) = parents::parents(place, snapshot, tree_roots, threads)?;
    let numbers = Numbers { root_nodes, tree_roots: parents::tree_roots(&parents, threads) };
    let packed = Packed::new(place, &parents, threads)?;
    parents::climb_to_heads(&parents, threads);
    Ok(Trees { numbers, packed, heads_of: into_plain(parents), apart })
}

/// Step 2: the core of the graph, with the edges of ephemerons and finalisers.
fn build_core(
    place: &Place,
    parts: &Parts<'_, '_>,
    heads_of: &[u32],
    edges: &CrossEdges,
) -> io::Result<(Csr, Vec<Conditional>)> {
    let Parts { snapshot, statics, .. } = parts;
    let needed = !snapshot.ephemerons.is_empty()
        || snapshot.roots.iter().any(|root| root.strength == Strength::Finaliser)
        || snapshot.roots.iter().any(|root| root.strength == Strength::Last);
    let waiting = finalisers::finalisers(snapshot, |block| !statics.contains(block));
    let graph = core::graph(place, parts, edges, &waiting, &[])?;
    if !needed {
        return Ok((graph, Vec::new()));
    }
    let more = core::more(parts, heads_of, &graph, &waiting);
    let conditional = more.conditional;
    // Those with conditions come last, so that they are the last of each node's edges.
    let keys = conditional.iter().map(|edge| (edge.node, edge.to));
    let more: Vec<_> = more.finalisers.into_iter().chain(keys).collect();
    drop(graph);
    Ok((core::graph(place, parts, edges, &waiting, &more)?, conditional))
}

/// The dominators of the core's nodes.
struct CoreDominators {
    tree: Tree,
    /// For each node the one before it on a shortest path from the super-root.
    before: Column<u32>,
    /// For each block its parent.
    parents: Column<u32>,
}

/// Step 3: the core's dominators and shortest paths; meanwhile parents take the place of tree roots again.
fn dominate_core(
    place: &Place,
    core: &Csr,
    heads_of: Column<u32>,
    packed: Packed,
    numbers: &Numbers,
    threads: usize,
) -> io::Result<CoreDominators> {
    let column = into_atomic(heads_of);
    let (tree, before) = both(
        threads,
        || semi_nca::dominators(place, core, SUPER_ROOT.0),
        || {
            let before = reach::shortest(place, core)?;
            restore(&column, &packed, numbers, &before, threads);
            drop(packed);
            Ok::<_, io::Error>(before)
        },
    );
    Ok(CoreDominators { tree: tree?, before: before?, parents: into_plain(column) })
}

/// Puts parents back in the place of tree roots, [`NO_BLOCK`] for blocks of trees that nothing reaches: with
/// nothing `before` them.
fn restore(
    column: &[AtomicU32],
    packed: &Packed,
    numbers: &Numbers,
    before: &[u32],
    threads: usize,
) {
    in_pieces(column.len(), threads, |range| {
        // Neighbours are often in the same tree.
        let (mut last, mut reached) = (NO_BLOCK, false);
        packed.each(range, |block, parent| {
            let tree_root = match column[block].load(Ordering::Relaxed) {
                SHARED => block as u32,
                tree_root => tree_root,
            };
            if tree_root != last {
                last = tree_root;
                reached = tree_root != NO_BLOCK
                    && before[numbers.of_tree_root(tree_root) as usize] != NO_BLOCK;
            }
            let parent = if reached || parent == SHARED { parent } else { NO_BLOCK };
            column[block].store(parent, Ordering::Relaxed);
        });
    });
}

/// The edges of the core, and its dominators.
struct CoreEdges<'c> {
    numbers: &'c Numbers,
    edges: CrossEdges,
    conditional: &'c [Conditional],
    tree: &'c Tree,
}

/// Step 4: the edges that leave the trees of dominating tree roots, and for each tree root the block or root
/// node that points to it on a shortest path.
fn find_tree_edges(
    place: &Place,
    core: CoreEdges<'_>,
    before: &[u32],
    blocks: u32,
    threads: usize,
) -> io::Result<(refine::CrossEdges, Column<u32>)> {
    let CoreEdges { numbers, edges, conditional, tree } = core;
    let root_nodes = numbers.root_nodes.len();
    let (mut tree_edges, mut predecessor) =
        cross_edges::toward(&edges, place, numbers, tree, before, threads)?;
    drop(edges);
    for (tree_root, before) in predecessor.iter_mut().zip(&before[root_nodes..]) {
        if *before != NO_BLOCK && numbers.is_root_node(*before) {
            *tree_root = blocks + before;
        }
    }
    for Conditional { from, node, to, .. } in conditional.iter().copied() {
        if before[to as usize] == node {
            predecessor[to as usize - root_nodes] = from;
        }
        if tree.idom[to as usize] == node {
            if numbers.tree_root(node) == Some(from) {
                tree_edges.direct.push(to);
            } else {
                tree_edges.add(from, to, root_nodes);
            }
        }
    }
    Ok((tree_edges, predecessor))
}

/// Step 5: what dominates each block: its parent, or what dominates the tree root that it is.
fn dominate_blocks(
    place: &Place,
    numbers: &Numbers,
    core: &Csr,
    tree: Tree,
    parents: Column<u32>,
    tree_edges: refine::CrossEdges,
) -> io::Result<Column<u32>> {
    let mut dominators = parents;
    let of_heads = refine::refine(place, numbers, core, &tree, &dominators, tree_edges)?;
    for (block, dominator) in numbers.tree_roots.bits().iter().zip(of_heads.iter()) {
        dominators[block as usize] = *dominator;
    }
    drop(tree);
    Ok(dominators)
}

/// For each root node the one above.
fn root_parents(root_nodes: RootNodes, labels: &Labels) -> Vec<u32> {
    (0..root_nodes.len() as u32)
        .map(|root_node| root_nodes.parent(RootNodeId(root_node), labels))
        .map(|parent| parent.map_or(NO_BLOCK, |parent| parent.0))
        .collect()
}
