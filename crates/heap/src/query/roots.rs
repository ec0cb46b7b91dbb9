//! Which roots keep how much.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

use super::Heap;
use super::names::{holder_name, label_path};
use crate::graph::{EVERYTHING, Holder, HolderId, Node};
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
    pub root: HolderId,
    /// The number of the holder that it is a part of; that of all roots, for a kind.
    pub part_of: HolderId,
    /// What nothing else keeps alive.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    pub retained_external: Bytes,
    /// What of that no single one of its parts retains, but several of them together.
    pub together: Bytes,
    /// Bytes outside the heap that go with that.
    pub together_external: Bytes,
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
    let parts = parts(heap);
    (rows.into_iter().map(|(holder, kind)| row(heap, &parts, holder, kind)).collect(), left_out)
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
    let mut rows: Vec<RootRow> = holders(heap)
        .filter(|(_, of)| kind.is_none_or(|kind| kind == *of))
        .map(|(holder, kind)| row(heap, &parts, holder, kind))
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
    pub together: Bytes,
    /// Bytes outside the heap that go with that.
    pub together_external: Bytes,
}

/// What all roots keep alive.
pub fn everything(heap: &Heap<'_>) -> Everything {
    let [together, together_external] = together(heap, &parts(heap), EVERYTHING);
    let [retained, retained_external] = held(heap, EVERYTHING);
    Everything { retained, retained_external, together, together_external }
}

/// What holders retain, in the heap and outside.
pub(super) type Parts = HashMap<HolderId, [Bytes; 2], FxBuildHasher>;

/// What the parts of each holder retain, one by one; of holders without parts, nothing.
pub(super) fn parts(heap: &Heap<'_>) -> Parts {
    let mut parts = Parts::default();
    for holder in (0..heap.graph.holders().len() as u32).map(HolderId) {
        if let Some(Node::Holder(above)) = heap.graph.dominator(Node::Holder(holder)) {
            let sum = parts.entry(above).or_default();
            let held = held(heap, holder);
            sum[0] += held[0];
            sum[1] += held[1];
        }
    }
    parts
}

/// What a holder with parts retains beyond what these do, in the heap and outside.
pub(super) fn together(heap: &Heap<'_>, parts: &Parts, holder: HolderId) -> [Bytes; 2] {
    let held = held(heap, holder);
    parts.get(&holder).map_or([Bytes(0); 2], |parts| {
        [0, 1].map(|place| Bytes(held[place].0.saturating_sub(parts[place].0)))
    })
}

fn held(heap: &Heap<'_>, holder: HolderId) -> [Bytes; 2] {
    [heap.graph.held(holder).bytes(), heap.graph.held_external(holder)]
}

/// What each frame's slots keep alive, in the order of the stacks.
pub fn stack(heap: &Heap<'_>) -> Vec<RootRow> {
    let parts = parts(heap);
    holders(heap)
        .filter(|(_, kind)| *kind == RootKind::Stack)
        .map(|(holder, kind)| row(heap, &parts, holder, kind))
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

fn row(heap: &Heap<'_>, parts: &Parts, holder: HolderId, kind: RootKind) -> RootRow {
    let retained = heap.graph.held(holder).bytes();
    let [together, together_external] = together(heap, parts, holder);
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
        root: holder,
        part_of: match heap.graph.dominator(Node::Holder(holder)) {
            Some(Node::Holder(above)) => above,
            _ => EVERYTHING,
        },
        retained,
        retained_external: heap.graph.held_external(holder),
        together,
        together_external,
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
