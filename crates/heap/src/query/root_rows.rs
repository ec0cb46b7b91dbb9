//! The figures of roots that are shown.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::heap::Heap;
use super::joint::{held, jointly_retained, parts};
use super::names::root_name;
use super::reach_cache::ReachCache;
use super::roots::{Root, ids};
use crate::graph::{Node, RootNodeId, SUPER_ROOT};
use crate::label::RootKind;
use crate::units::{Bytes, LabelId};

/// A root with all its figures.
#[derive(Clone, Debug, Serialize)]
pub struct RootRow {
    /// The kind of root.
    pub kind: &'static str,
    /// Names from the coarsest to its own; empty for a whole kind.
    pub path: Vec<String>,
    /// The variable's full name, if it is one and that is known: `Cache.Table.entries`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The variable's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// Where the variable is defined: `cache.ml:12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// How that is known: `cmt`, `computed` or `neighbours`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derivation: Option<&'static str>,
    /// Its label's number, if it is one.
    pub label: Option<LabelId>,
    /// The number of its node.
    pub root: RootNodeId,
    /// The number of the node that it is a part of; that of all roots, for a kind.
    pub part_of: RootNodeId,
    /// What nothing else retains.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// What of that no single one of its parts retains, but several of them jointly.
    pub jointly_retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub jointly_retained_external: Bytes,
    /// All that is reachable from it, whatever else reaches it, too.
    pub reachable: Bytes,
    /// Bytes outside the heap that go with that.
    pub reachable_external: Bytes,
    /// What is reachable from it and from others.
    pub shared: Bytes,
    /// How many labels are directly below it.
    #[serde(skip)]
    pub parts: u64,
}

/// A kind of roots.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RootKindRow {
    /// Its name.
    pub kind: &'static str,
    /// Its node.
    #[serde(skip)]
    pub root: RootNodeId,
    /// What nothing else retains.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// All that is reachable from it, whatever else reaches it, too.
    pub reachable: Bytes,
    /// What is reachable from it and from others.
    pub shared: Bytes,
    /// How many labels are of the kind.
    pub labels: u64,
}

/// All figures of roots.
pub fn root_rows(heap: &Heap<'_>, roots: &[Root], reach: &ReachCache) -> Vec<RootRow> {
    let (parts, below) = (parts(heap), parts_of_labels(heap));
    let reached = reach.of(heap, ids(roots));
    let rows = roots.iter().map(|root| {
        let [jointly_retained, jointly_retained_external] = jointly_retained(heap, &parts, root.id);
        let [reachable, reachable_external] = root.reachable(&reached);
        let variable = root.label.and_then(|label| heap.snapshot.labels.variable(label));
        let position = root.label.and_then(|label| heap.snapshot.labels.position(label));
        RootRow {
            kind: root.kind,
            path: root.path.clone(),
            variable: variable.map(|_| root.path.join(".")),
            r#type: variable.map(|variable| variable.ty.clone()).filter(|ty| !ty.is_empty()),
            derivation: position.as_ref().map(|position| position.derivation),
            position: position.map(|position| position.text),
            label: root.label,
            root: root.id,
            part_of: match heap.graph.dominator(Node::RootNode(root.id)) {
                Some(Node::RootNode(parent)) => parent,
                _ => SUPER_ROOT,
            },
            retained: root.retained,
            retained_external: root.retained_external,
            jointly_retained,
            jointly_retained_external,
            reachable,
            reachable_external,
            shared: Bytes(reachable.0.saturating_sub(root.retained.0)),
            parts: root.label.and_then(|label| below.get(&label)).copied().unwrap_or(0),
        }
    });
    rows.collect()
}

/// How many labels are directly below each.
fn parts_of_labels(heap: &Heap<'_>) -> HashMap<LabelId, u64, FxBuildHasher> {
    let mut below = HashMap::default();
    for (_, label) in heap.snapshot.labels.iter() {
        if let Some(parent) = label.parent {
            *below.entry(parent).or_insert(0) += 1;
        }
    }
    below
}

/// The kinds of roots that retain something.
pub fn root_kinds(heap: &Heap<'_>, reach: &ReachCache) -> Vec<RootKindRow> {
    let root_nodes = heap.graph.root_nodes();
    let kinds: Vec<(RootKind, RootNodeId)> = RootKind::ALL
        .iter()
        .map(|kind| (*kind, root_nodes.kind(*kind)))
        .filter(|(_, root)| heap.graph.held(*root).0 > 0)
        .collect();
    let reached = reach.of(heap, kinds.iter().map(|(_, root)| *root));
    let rows = kinds.into_iter().map(|(kind, root)| {
        let [retained, retained_external] = held(heap, root);
        let reachable = reached[&root].words.bytes();
        let labels = heap.snapshot.labels.iter().filter(|(_, label)| label.kind == kind);
        RootKindRow {
            kind: kind.name(),
            root,
            retained,
            retained_external,
            reachable,
            shared: Bytes(reachable.0.saturating_sub(retained.0)),
            labels: labels.count() as u64,
        }
    });
    rows.collect()
}

/// What two root nodes have in common.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "SharedResponse"))]
pub struct Shared {
    /// Their names.
    pub names: [String; 2],
    /// What each retains.
    pub retained: [Bytes; 2],
    /// What each reaches.
    pub reachable: [Bytes; 2],
    /// What both reach.
    pub common: Bytes,
}

/// What two root nodes have in common.
pub fn shared(heap: &Heap<'_>, a: RootNodeId, b: RootNodeId) -> Shared {
    let name = |root_node| root_name(&heap.snapshot.labels, heap.graph.root_nodes(), root_node);
    let reached = [heap.graph.reach(&[a]), heap.graph.reach(&[b])];
    Shared {
        names: [name(a), name(b)],
        retained: [held(heap, a)[0], held(heap, b)[0]],
        reachable: [reached[0].words.bytes(), reached[1].words.bytes()],
        common: heap.graph.common(&reached[0], &reached[1]).bytes(),
    }
}
