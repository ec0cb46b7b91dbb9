//! Which roots keep how much.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::heap::Heap;
use super::names::{holder_name, label_path};
use crate::graph::{Node, RootNode, RootNodeId, SUPER_ROOT};
use crate::label::RootKind;
use crate::units::{Bytes, LabelId};

/// A holder: a label, or a whole kind of roots.
#[derive(Clone, Debug, Serialize)]
pub struct RootRow {
    /// The sort of root.
    pub kind: &'static str,
    /// Names from the coarsest to its own; empty for a whole kind.
    pub path: Vec<String>,
    /// Its label's number, if it is one.
    pub label: Option<LabelId>,
    /// Its number among the holders.
    pub root: RootNodeId,
    /// The number of the holder that it is a part of; that of all roots, for a kind.
    pub part_of: RootNodeId,
    /// What nothing else keeps alive.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// What of that no single one of its parts retains, but several of them together.
    pub jointly_retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub jointly_retained_external: Bytes,
    /// All that it reaches, whatever else does too.
    pub reachable: Bytes,
    /// Bytes outside the heap that go with that.
    pub reachable_external: Bytes,
    /// What it reaches and others do, too.
    pub shared: Bytes,
}

/// Holders that retain at least `min`, in the heap and outside, the largest first; each after the
/// one above it. Only of a kind, if one is given. At most `most`, and how many that leaves out.
pub fn roots(
    heap: &Heap<'_>,
    min: Bytes,
    kind: Option<RootKind>,
    most: usize,
) -> (Vec<RootRow>, usize) {
    let mut rows: Vec<(RootNodeId, RootKind)> = root_nodes(heap)
        .filter(|(root_node, of)| {
            kind.is_none_or(|kind| kind == *of)
                && heap.graph.held(*root_node).bytes() + heap.graph.held_external(*root_node)
                    >= min.max(Bytes(1))
        })
        .collect();
    rows.sort_by_key(|(root_node, _)| {
        let all = heap.graph.held(*root_node).bytes() + heap.graph.held_external(*root_node);
        (std::cmp::Reverse(all), *root_node)
    });
    let left_out = rows.len().saturating_sub(most);
    rows.truncate(most);
    let parts = parts(heap);
    (
        rows.into_iter().map(|(root_node, kind)| row(heap, &parts, root_node, kind)).collect(),
        left_out,
    )
}

/// Holders that reach at least `min`, whatever else does, those that reach most first. Otherwise as
/// [`roots`]. Takes a search for each holder.
pub fn roots_by_reach(
    heap: &Heap<'_>,
    min: Bytes,
    kind: Option<RootKind>,
    most: usize,
) -> (Vec<RootRow>, usize) {
    let parts = parts(heap);
    let mut rows: Vec<RootRow> = root_nodes(heap)
        .filter(|(_, of)| kind.is_none_or(|kind| kind == *of))
        .map(|(root_node, kind)| row(heap, &parts, root_node, kind))
        .filter(|row| row.reachable + row.reachable_external >= min.max(Bytes(1)))
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.reachable + row.reachable_external), row.root));
    let left_out = rows.len().saturating_sub(most);
    rows.truncate(most);
    (rows, left_out)
}

/// What all roots keep alive.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Everything {
    /// Their size in the heap.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// What of it no single kind of roots retains, but several of them together.
    pub jointly_retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub jointly_retained_external: Bytes,
}

/// What all roots keep alive.
pub fn everything(heap: &Heap<'_>) -> Everything {
    let [jointly_retained, jointly_retained_external] =
        jointly_retained(heap, &parts(heap), SUPER_ROOT);
    let [retained, retained_external] = held(heap, SUPER_ROOT);
    Everything { retained, retained_external, jointly_retained, jointly_retained_external }
}

/// What holders retain, in the heap and outside.
pub(super) type Parts = HashMap<RootNodeId, [Bytes; 2], FxBuildHasher>;

/// What the parts of each holder retain, one by one; of holders without parts, nothing.
pub(super) fn parts(heap: &Heap<'_>) -> Parts {
    let mut parts = Parts::default();
    for root_node in (0..heap.graph.root_nodes().len() as u32).map(RootNodeId) {
        if let Some(Node::RootNode(above)) = heap.graph.dominator(Node::RootNode(root_node)) {
            let sum = parts.entry(above).or_default();
            let held = held(heap, root_node);
            sum[0] += held[0];
            sum[1] += held[1];
        }
    }
    parts
}

/// What a holder with parts retains beyond what these do, in the heap and outside.
pub(super) fn jointly_retained(
    heap: &Heap<'_>,
    parts: &Parts,
    root_node: RootNodeId,
) -> [Bytes; 2] {
    let held = held(heap, root_node);
    parts.get(&root_node).map_or([Bytes(0); 2], |parts| {
        [0, 1].map(|place| Bytes(held[place].0.saturating_sub(parts[place].0)))
    })
}

fn held(heap: &Heap<'_>, root_node: RootNodeId) -> [Bytes; 2] {
    [heap.graph.held(root_node).bytes(), heap.graph.held_external(root_node)]
}

/// What each frame's slots keep alive, in the order of the stacks.
pub fn stack(heap: &Heap<'_>) -> Vec<RootRow> {
    let parts = parts(heap);
    root_nodes(heap)
        .filter(|(_, kind)| *kind == RootKind::Stack)
        .map(|(root_node, kind)| row(heap, &parts, root_node, kind))
        .collect()
}

fn root_nodes(heap: &Heap<'_>) -> impl Iterator<Item = (RootNodeId, RootKind)> {
    let root_nodes = heap.graph.root_nodes();
    (0..root_nodes.len() as u32).map(RootNodeId).filter_map(|root_node| {
        match root_nodes.get(root_node) {
            RootNode::Everything => None,
            RootNode::Kind(kind) => Some((root_node, kind)),
            RootNode::Label(label) => Some((root_node, heap.snapshot.labels.get(label)?.kind)),
        }
    })
}

fn row(heap: &Heap<'_>, parts: &Parts, root_node: RootNodeId, kind: RootKind) -> RootRow {
    let retained = heap.graph.held(root_node).bytes();
    let [jointly_retained, jointly_retained_external] = jointly_retained(heap, parts, root_node);
    let reached = heap.graph.reach(&[root_node]);
    let reachable = reached.words.bytes();
    let label = match heap.graph.root_nodes().get(root_node) {
        RootNode::Label(label) => Some(label),
        _ => None,
    };
    RootRow {
        kind: kind.name(),
        path: label.map_or_else(Vec::new, |label| label_path(&heap.snapshot.labels, label)),
        label,
        root: root_node,
        part_of: match heap.graph.dominator(Node::RootNode(root_node)) {
            Some(Node::RootNode(above)) => above,
            _ => SUPER_ROOT,
        },
        retained,
        retained_external: heap.graph.held_external(root_node),
        jointly_retained,
        jointly_retained_external,
        reachable,
        reachable_external: reached.external,
        shared: Bytes(reachable.0.saturating_sub(retained.0)),
    }
}

/// What two holders have to do with each other.
#[derive(Clone, Debug, Serialize)]
pub struct Shared {
    /// Their names.
    pub names: [String; 2],
    /// What each reaches.
    pub reachable: [Bytes; 2],
    /// What both reach.
    pub common: Bytes,
}

/// What two holders share.
pub fn shared(heap: &Heap<'_>, a: RootNodeId, b: RootNodeId) -> Shared {
    let name = |root_node| holder_name(&heap.snapshot.labels, heap.graph.root_nodes(), root_node);
    let reached = [heap.graph.reach(&[a]), heap.graph.reach(&[b])];
    Shared {
        names: [name(a), name(b)],
        reachable: [reached[0].words.bytes(), reached[1].words.bytes()],
        common: heap.graph.common(&reached[0], &reached[1]).bytes(),
    }
}
