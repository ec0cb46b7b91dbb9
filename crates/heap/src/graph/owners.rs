//! The owner of each block: the one root that it is attributed to, so that sizes add up.
//!
//! A root is what a label stands for: a global variable, a variable of C, a frame of a stack. Roots have
//! six classes:
//! 1. global variables that hold a value;
//! 2. global variables that hold a closure or a submodule's block, and the blocks of modules themselves;
//! 3. results of operations, which have symbols but no names in programs that were compiled with flambda;
//! 4. those of them that other such results refer to: the cells of a list, but for the first;
//! 5. variables that C code registered for good, hooks, finalisers;
//! 6. all others: stacks, C variables of calls that are under way, state of domains.
//!
//! Each class is completed before the next one: a search from all its roots at once, breadth first, takes
//! all that no earlier class reaches. So within a class, a block belongs to the root that is
//! nearest: over the fewest shared blocks, those that roots or several blocks refer to. Blocks that nothing reaches count as
//! none: so garbage decides about no owner. Of several that are equally
//! near, it is the one whose name comes first ([`label_order`]): so it is the same one in all snapshots of a program,
//! in whatever order their roots were found. A root that retains a block alone always owns it.
//!
//! Edges of ephemerons and finalisers count as for the dominators. Edges to static data, which decide about
//! nothing there, count here. Static data that no root reaches belongs to [`RootKind::Static`].
//!
//! All blocks of a tree with a single way in have the same owner, so what is kept is one number for each
//! tree. The rule looks at nothing but the snapshot: names of variables that are found later change no owner.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use super::analysis::Graph;
use super::bits::Bits;
use super::column::{Column, Place};
use super::core::{Conditional, Parts};
use super::cross_edges::{CrossEdges, Exit};
use super::csr::Csr;
use super::globals::Globals;
use super::label_order;
use super::nodes::{NO_BLOCK, RootNodeId, SHARED, SUPER_ROOT};
use super::reach::ReachableSize;
use crate::label::{LabelRole, Labels, RootKind, Strength};
use crate::units::{BlockIndex, Bytes, LabelId, Words};

/// A root that holds a node of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seed {
    class: u8,
    /// The owner's place in the order of names.
    place: u32,
    owner: u32,
    node: u32,
}

const VALUES: u8 = 1;
const OTHER_GLOBALS: u8 = 2;
const OPERATIONS: u8 = 3;
const PARTS: u8 = 4;

/// The class of a label that holds a block.
fn class(labels: &Labels, globals: &Globals, label: LabelId, block: u32) -> Option<u8> {
    Some(match labels.get(label)?.kind {
        RootKind::Global if labels.is_operation(label) => {
            if globals.is_part(block) {
                PARTS
            } else {
                OPERATIONS
            }
        }
        RootKind::Global if globals.is_value(block) => VALUES,
        RootKind::Global => OTHER_GLOBALS,
        RootKind::GlobalC | RootKind::Hook | RootKind::Finaliser => 5,
        _ => 6,
    })
}

/// For each tree root the root node that owns it; [`NO_BLOCK`] for what nothing reaches.
///
/// # Errors
/// If there is no room for it.
pub(super) fn owners(
    place: &Place,
    parts: &Parts<'_, '_>,
    core: &Csr,
    edges: Edges<'_>,
    globals: &Globals,
) -> io::Result<Column<u32>> {
    let numbers = parts.numbers;
    let root_nodes = numbers.root_nodes.len() as u32;
    let to_statics = to_statics(place, parts, edges.statics)?;
    let alone = referred_to_once(place, parts, core, &edges)?;
    let mut owners = place.column(numbers.tree_roots.len(), || NO_BLOCK)?;
    // Each node is in it once.
    let mut queue: Column<u32> = place.zeros(numbers.tree_roots.len())?;
    let (mut next, mut end) = (0, 0);
    let mut take = |node: u32, owner: u32| {
        let known = &mut owners[(node - root_nodes) as usize];
        let is_new = *known == NO_BLOCK;
        if is_new {
            *known = owner;
        }
        (is_new, *known)
    };
    let mut tree = Vec::new();
    let mut seeds = seeds(parts, core, globals);
    let permanent = numbers.root_nodes.kind(RootKind::Static).0;
    let statics = parts.statics.iter().map(|block| numbers.of_tree_root(block));
    let of_statics = |node| Seed { class: u8::MAX, place: 0, owner: permanent, node };
    seeds.extend(statics.map(of_statics));
    for of_class in seeds.chunk_by(|a, b| a.class == b.class) {
        // They are in the order of owners' names, and so is all that is met at one distance.
        for seed in of_class {
            if take(seed.node, seed.owner).0 {
                queue[end] = seed.node;
                end += 1;
            }
        }
        while next < end {
            let from = queue[next];
            next += 1;
            let (_, owner) = take(from, NO_BLOCK);
            // Nodes that only this one leads to are as near.
            tree.push(from);
            while let Some(from) = tree.pop() {
                for to in core.of(from).iter().chain(to_statics.of(from)) {
                    if !take(*to, owner).0 {
                        continue;
                    }
                    if alone.contains(*to) {
                        tree.push(*to);
                    } else {
                        queue[end] = *to;
                        end += 1;
                    }
                }
            }
        }
    }
    Ok(owners)
}

/// The edges between nodes of the core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges<'e> {
    pub(super) shared: &'e CrossEdges,
    pub(super) statics: &'e CrossEdges,
    pub(super) conditional: &'e [Conditional],
}

/// The core's nodes to which a single block refers, of those that roots reach, and no root and no ephemeron.
fn referred_to_once(
    place: &Place,
    parts: &Parts<'_, '_>,
    core: &Csr,
    edges: &Edges<'_>,
) -> io::Result<Bits> {
    let Parts { snapshot, numbers, statics } = *parts;
    let root_nodes = numbers.root_nodes.len() as u32;
    let mut reached = Bits::new(core.nodes());
    reached.insert(SUPER_ROOT.0);
    let mut todo = vec![SUPER_ROOT.0];
    while let Some(from) = todo.pop() {
        todo.extend(core.of(from).iter().copied().filter(|to| reached.insert(*to)));
    }
    let mut only = place.column(numbers.tree_roots.len(), || NO_BLOCK)?;
    edges.shared.each_of_all(|Exit { from, node, to }| {
        if reached.contains(node) {
            let known = &mut only[(to - root_nodes) as usize];
            *known = if *known == NO_BLOCK || *known == from { from } else { SHARED };
        }
    });
    let roots = snapshot.roots.iter();
    let roots =
        roots.filter(|root| matches!(root.strength, Strength::Strong | Strength::Finaliser));
    let held = roots.map(|root| root.block.0).chain(statics.iter());
    let data = edges.conditional.iter().map(|edge| edge.to);
    for node in held.map(|block| numbers.of_tree_root(block)).chain(data) {
        only[(node - root_nodes) as usize] = SHARED;
    }
    let mut alone = Bits::new(core.nodes());
    for (node, from) in (root_nodes..).zip(only.iter()) {
        if *from < SHARED {
            alone.insert(node);
        }
    }
    Ok(alone)
}

/// What the roots hold, in the order of classes and of owners' names.
fn seeds(parts: &Parts<'_, '_>, core: &Csr, globals: &Globals) -> Vec<Seed> {
    let Parts { snapshot, numbers, statics } = *parts;
    let (root_nodes, labels) = (&numbers.root_nodes, &snapshot.labels);
    let mut seeds = Vec::new();
    let places = label_order::places(labels);
    let place = |owner: LabelId| places.get(owner.0 as usize).copied().unwrap_or(u32::MAX);
    let mut add = |label: LabelId, node: u32, block: u32| {
        let Some(class) = class(labels, globals, label, block) else { return };
        let owner = owner_of(labels, label);
        let (place, owner) = (place(owner), root_nodes.label(owner).0);
        seeds.push(Seed { class, place, owner, node });
    };
    for (label, _) in labels.iter() {
        for node in core.of(root_nodes.label(label).0) {
            if let Some(block) = numbers.tree_root(*node) {
                add(label, *node, block);
            }
        }
    }
    // The graph has no edges to static data.
    for root in &snapshot.roots {
        if root.strength == Strength::Strong && statics.contains(root.block.0) {
            add(root.label, numbers.of_tree_root(root.block.0), root.block.0);
        }
    }
    for (label, block) in module_blocks(parts) {
        let (place, owner) = (place(label), root_nodes.label(label).0);
        let node = numbers.of_tree_root(block);
        seeds.push(Seed { class: OTHER_GLOBALS, place, owner, node });
    }
    seeds.sort_unstable();
    seeds.dedup();
    seeds
}

/// The static blocks whose fields are global variables, with the labels that these are below.
fn module_blocks<'p>(parts: &'p Parts<'_, '_>) -> impl Iterator<Item = (LabelId, u32)> + 'p {
    let Parts { snapshot, statics, .. } = *parts;
    snapshot.roots.iter().filter_map(move |root| {
        let (block, _) = root.field_of?;
        let label = snapshot.labels.get(root.label)?;
        let is_module = label.kind == RootKind::Global && statics.contains(block.0);
        is_module.then_some((label.parent.unwrap_or(root.label), block.0))
    })
}

/// The label that owns what a label holds: slots of a frame are the frame.
fn owner_of(labels: &Labels, label: LabelId) -> LabelId {
    let slot = labels.get(label).filter(|label| label.part == LabelRole::Slot);
    slot.and_then(|slot| slot.parent).unwrap_or(label)
}

/// The edges to static data between nodes of the core.
fn to_statics(place: &Place, parts: &Parts<'_, '_>, edges: &CrossEdges) -> io::Result<Csr> {
    let nodes = parts.numbers.len();
    let last = place.column(nodes, || AtomicU32::new(NO_BLOCK))?;
    Csr::new(place, nodes, |edge| {
        for last in last.iter() {
            last.store(NO_BLOCK, Ordering::Relaxed);
        }
        edges.each_of_all(|exit| {
            let last = &last[exit.to as usize];
            if exit.node != exit.to && last.load(Ordering::Relaxed) != exit.node {
                last.store(exit.node, Ordering::Relaxed);
                edge(exit.node, exit.to);
            }
        });
    })
}

/// The owner of each block.
#[derive(Debug)]
pub struct OwnersOfBlocks<'g> {
    graph: &'g Graph,
    /// Of each block the tree root that it hangs from; [`SHARED`] for these.
    tops: Vec<u32>,
}

impl OwnersOfBlocks<'_> {
    /// The root that a block is attributed to; `None` if nothing retains it.
    #[inline]
    pub fn get(&self, block: BlockIndex) -> Option<RootNodeId> {
        if !self.graph.is_reachable(block) {
            return None;
        }
        let tree_root = match *self.tops.get(block.0 as usize)? {
            SHARED => block.0,
            NO_BLOCK => return None,
            tree_root => tree_root,
        };
        self.graph.owner_of_node(self.graph.node_of_tree_root(tree_root))
    }
}

impl Graph {
    /// The root that a block is attributed to; `None` if nothing retains it.
    pub fn owner(&self, block: BlockIndex) -> Option<RootNodeId> {
        if !self.is_reachable(block) {
            return None;
        }
        let node = self.core_node(block.0)?;
        self.owner_of_node(node)
    }

    /// The owners of all blocks, to be asked for each: where [`Graph::owner`] climbs a tree for each block, this has
    /// climbed all trees at once. It takes 4 bytes a block.
    pub fn owners_of_blocks(&self, threads: usize) -> OwnersOfBlocks<'_> {
        OwnersOfBlocks { graph: self, tops: self.tops(|_| false, threads) }
    }

    /// For each root node what is attributed to it. The sum is all that is reachable.
    pub fn owned(&self) -> Vec<ReachableSize> {
        let mut owned = vec![ReachableSize::default(); self.root_nodes.len()];
        for (tree_root, owner) in self.owners.iter().enumerate() {
            if *owner != NO_BLOCK {
                owned[*owner as usize].words.0 += self.weights.get(tree_root);
            }
        }
        for (node, bytes) in &self.external.weights {
            if let Some(owner) = self.owner_of_node(*node) {
                owned[owner.0 as usize].external += Bytes(*bytes);
            }
        }
        owned
    }

    /// What a block retains, itself counted: also of those that [`Graph::retained`] leaves to the snapshot, if
    /// several roots or blocks refer to them.
    pub fn retained_size(&self, block: BlockIndex) -> Words {
        self.retained(block).unwrap_or_else(|| {
            // One that retains nothing else is all of its tree.
            let is_tree_root =
                (block.0 as usize) < self.dominators.len() && self.tree_roots.contains(block.0);
            let words = || self.weights.get(self.tree_roots.rank(block.0) as usize);
            Words(if is_tree_root { words() } else { 0 })
        })
    }

    /// Submodules' blocks that global variables hold, with what each of their fields holds, in order.
    pub fn modules(&self) -> impl Iterator<Item = (BlockIndex, BlockIndex)> + '_ {
        self.modules.iter().map(|(module, field)| (BlockIndex(*module), BlockIndex(*field)))
    }
}
