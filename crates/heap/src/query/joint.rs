//! What several parts of a root node retain jointly, and none of them alone.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::heap::Heap;
use crate::graph::{Node, RootNodeId, SUPER_ROOT};
use crate::units::Bytes;

/// What all roots retain.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Everything {
    /// Their size in the heap.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// What of it no single kind of roots retains, but several of them jointly.
    pub jointly_retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub jointly_retained_external: Bytes,
}

/// What all roots retain.
pub fn everything(heap: &Heap<'_>) -> Everything {
    let [jointly_retained, jointly_retained_external] =
        jointly_retained(heap, &parts(heap), SUPER_ROOT);
    let [retained, retained_external] = held(heap, SUPER_ROOT);
    Everything { retained, retained_external, jointly_retained, jointly_retained_external }
}

/// What root nodes retain, in the heap and outside.
pub(super) type Parts = HashMap<RootNodeId, [Bytes; 2], FxBuildHasher>;

/// What the parts of each root node retain, one by one; of those without parts, nothing.
pub(super) fn parts(heap: &Heap<'_>) -> Parts {
    let mut parts = Parts::default();
    for root_node in (0..heap.graph.root_nodes().len() as u32).map(RootNodeId) {
        if let Some(Node::RootNode(parent)) = heap.graph.dominator(Node::RootNode(root_node)) {
            let sum = parts.entry(parent).or_default();
            let held = held(heap, root_node);
            sum[0] += held[0];
            sum[1] += held[1];
        }
    }
    parts
}

/// What a root node with parts retains beyond what these do, in the heap and outside.
pub(super) fn jointly_retained(
    heap: &Heap<'_>,
    parts: &Parts,
    root_node: RootNodeId,
) -> [Bytes; 2] {
    if parts.contains_key(&root_node) {
        beside_parts(heap, parts, root_node)
    } else {
        [Bytes(0); 2]
    }
}

/// The same of any root node: one without parts keeps all of it.
pub(super) fn beside_parts(heap: &Heap<'_>, parts: &Parts, root_node: RootNodeId) -> [Bytes; 2] {
    let held = held(heap, root_node);
    let of_parts = parts.get(&root_node).copied().unwrap_or_default();
    [0, 1].map(|place| Bytes(held[place].0.saturating_sub(of_parts[place].0)))
}

/// What a root node retains, in the heap and outside.
pub(super) fn held(heap: &Heap<'_>, root_node: RootNodeId) -> [Bytes; 2] {
    [heap.graph.held(root_node).bytes(), heap.graph.held_external(root_node)]
}
