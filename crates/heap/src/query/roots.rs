//! Which roots keep how much.

use serde::Serialize;

use super::Heap;
use super::names::{holder_name, label_path};
use crate::graph::{Holder, HolderId};
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
    /// What nothing else keeps alive.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// All that it reaches, whatever else does too.
    pub reachable: Bytes,
    /// Bytes outside the heap that go with that.
    pub reachable_external: Bytes,
    /// What it reaches and others do, too.
    pub shared: Bytes,
}

/// Holders that retain at least `min`, in the heap and outside, the largest first; each after the
/// one above it. Only of a
/// kind, if one is given. At most `most`, and how many that leaves out.
pub fn roots(
    heap: &Heap<'_>,
    min: Bytes,
    kind: Option<RootKind>,
    most: usize,
) -> (Vec<RootRow>, usize) {
    let mut rows: Vec<(HolderId, RootKind)> = holders(heap)
        .filter(|(holder, of)| {
            kind.is_none_or(|kind| kind == *of)
                && heap.graph.held(*holder).bytes() + heap.graph.held_external(*holder)
                    >= min.max(Bytes(1))
        })
        .collect();
    rows.sort_by_key(|(holder, _)| {
        let all = heap.graph.held(*holder).bytes() + heap.graph.held_external(*holder);
        (std::cmp::Reverse(all), *holder)
    });
    let left_out = rows.len().saturating_sub(most);
    rows.truncate(most);
    (rows.into_iter().map(|(holder, kind)| row(heap, holder, kind)).collect(), left_out)
}

/// What each frame's slots keep alive, in the order of the stacks.
pub fn stack(heap: &Heap<'_>) -> Vec<RootRow> {
    holders(heap)
        .filter(|(_, kind)| *kind == RootKind::Stack)
        .map(|(holder, kind)| row(heap, holder, kind))
        .collect()
}

fn holders(heap: &Heap<'_>) -> impl Iterator<Item = (HolderId, RootKind)> {
    let holders = heap.graph.holders();
    (0..holders.len() as u32).map(HolderId).filter_map(|holder| match holders.get(holder) {
        Holder::Everything => None,
        Holder::Kind(kind) => Some((holder, kind)),
        Holder::Label(label) => Some((holder, heap.snapshot.labels.get(label)?.kind)),
    })
}

fn row(heap: &Heap<'_>, holder: HolderId, kind: RootKind) -> RootRow {
    let retained = heap.graph.held(holder).bytes();
    let reached = heap.graph.reach(&[holder]);
    let reachable = reached.words.bytes();
    let label = match heap.graph.holders().get(holder) {
        Holder::Label(label) => Some(label),
        _ => None,
    };
    RootRow {
        kind: kind.name(),
        path: label.map_or_else(Vec::new, |label| label_path(&heap.snapshot.labels, label)),
        label,
        retained,
        retained_external: heap.graph.held_external(holder),
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
pub fn shared(heap: &Heap<'_>, a: HolderId, b: HolderId) -> Shared {
    let name = |holder| holder_name(&heap.snapshot.labels, heap.graph.holders(), holder);
    let reached = [heap.graph.reach(&[a]), heap.graph.reach(&[b])];
    Shared {
        names: [name(a), name(b)],
        reachable: [reached[0].words.bytes(), reached[1].words.bytes()],
        common: heap.graph.common(&reached[0], &reached[1]).bytes(),
    }
}
