//! What is kept of every snapshot, so that many can be shown over time without any being opened.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use memtrail_order::SortRows as _;
use serde::{Deserialize, Serialize};

use super::heap::Heap;
use super::histogram::sums;
use super::joint::{beside_parts, held, jointly_retained, parts};
use super::names::{SEVERAL_KINDS, stored_path};
use super::sizes::Sizes;
use crate::graph::{RootNode, RootNodeId, SUPER_ROOT};
use crate::read::Error;
use crate::units::{Bytes, Words};

/// A snapshot in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// [`Summary::VERSION`] of the writer.
    pub version: u32,
    /// The snapshot's checksum.
    pub checksum: u64,
    /// What types of blocks were known from, as a checksum; 0 if from contents alone.
    pub types: u64,
    /// Blocks that are reachable.
    pub blocks: u64,
    /// Their size.
    pub bytes: Bytes,
    /// Bytes outside the heap that go with them.
    pub external: Bytes,
    /// What of that is in the major heap: the rest is static data and the minor heaps.
    pub in_heap: Bytes,
    /// What is unreachable and not freed yet; unknown of a damaged snapshot.
    pub unreachable: Option<Bytes>,
    /// What is wrong with the file, if all the figures are of a part of it.
    pub damage: Option<String>,
    /// The kinds of blocks with the largest sums, off-heap memory included, largest first.
    pub kinds: Vec<KindSum>,
    /// The roots that retain most, off-heap memory included, largest first. Those of the same kind and names are one.
    pub roots: Vec<RootSum>,
    /// What several kinds of roots retain jointly.
    pub several: Bytes,
    /// Bytes outside the heap that go with that.
    pub several_external: Bytes,
    /// The owners of most, off-heap memory included, largest first: together all that is alive, unless some are left out. Those of
    /// the same kind and names are one.
    pub owners: Vec<OwnerSum>,
}

/// A kind of block in a [`Summary`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindSum {
    /// Its name.
    pub name: String,
    /// How many blocks.
    pub blocks: u64,
    /// Their own size.
    pub bytes: Bytes,
    /// Bytes outside the heap that go with them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub external: Bytes,
}

/// A root in a [`Summary`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootSum {
    /// The sort of root.
    pub kind: String,
    /// Names from the coarsest to its own; what several roots of the kind retain jointly has none.
    pub name: String,
    /// How many names there are above its own; 0 for the coarsest, which with what several
    /// retain jointly are all that is alive.
    pub depth: usize,
    /// What it retains.
    pub retained: Bytes,
    /// Bytes outside the heap that go with that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retained_external: Bytes,
    /// What of that its parts retain jointly; 0 of one without parts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jointly_retained: Bytes,
    /// Bytes outside the heap that go with that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jointly_retained_external: Bytes,
}

/// An owner in a [`Summary`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerSum {
    /// The sort of root.
    pub kind: String,
    /// Names from the coarsest to its own; static data that no root reaches has none.
    pub name: String,
    /// What is attributed to it.
    pub owned: Bytes,
    /// Bytes outside the heap that go with that.
    pub owned_external: Bytes,
}

/// So many kinds, roots and owners are kept of a snapshot.
pub(super) const MAX_KEPT: usize = 4096;

impl Summary {
    /// Gives owners the names that variables have in the sources: of a kind of root and a stored name, the other name.
    pub fn name_owners(&mut self, name: impl Fn(&str, &str) -> Option<String>) {
        for owner in &mut self.owners {
            if let Some(name) = name(&owner.kind, &owner.name) {
                owner.name = name;
            }
        }
    }

    /// Raised whenever what it holds, or how that is found, changes.
    pub const VERSION: u32 = 13;

    /// Sums a snapshot up: of kinds and roots, the largest.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn new(heap: &Heap<'_>) -> Result<Self, Error> {
        let mut summary = Self::complete(heap)?;
        summary.kinds.truncate(MAX_KEPT);
        summary.roots.truncate(MAX_KEPT);
        summary.owners.truncate(MAX_KEPT);
        Ok(summary)
    }

    /// The same with all kinds and roots.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn complete(heap: &Heap<'_>) -> Result<Self, Error> {
        let (by_kind, unreachable, in_heap) = sums(heap, &|block| heap.graph.is_reachable(block))?;
        let is_whole = heap.snapshot.damage.is_none();
        let mut kinds: BTreeMap<String, KindSum> = BTreeMap::new();
        let (mut blocks, mut bytes, mut external) = (0, Bytes(0), Bytes(0));
        for (kind, sum) in by_kind {
            let sum = KindSum {
                name: kind.name(&heap.snapshot, &heap.types),
                blocks: sum.blocks,
                bytes: Words(sum.words).bytes(),
                external: Bytes(sum.external),
            };
            blocks += sum.blocks;
            bytes += sum.bytes;
            external += sum.external;
            match kinds.get_mut(&sum.name) {
                Some(known) => known.add(&sum),
                None => drop(kinds.insert(sum.name.clone(), sum)),
            }
        }
        let mut kinds: Vec<KindSum> = kinds.into_values().collect();
        kinds.sort_rows_by_key(|kind| Reverse(kind.sizes().all()));
        let (roots, several) = roots(heap);
        Ok(Self {
            version: Self::VERSION,
            checksum: heap.snapshot.checksum(),
            types: 0,
            blocks,
            bytes,
            external,
            in_heap: in_heap.bytes(),
            unreachable: is_whole.then_some(Words(unreachable.words).bytes()),
            damage: heap.snapshot.damage.map(|damage| damage.to_string()),
            kinds,
            roots,
            several: several.heap,
            several_external: several.external,
            owners: owners(heap),
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(bytes: &Bytes) -> bool {
    bytes.0 == 0
}

impl KindSum {
    pub(super) fn sizes(&self) -> Sizes {
        Sizes { heap: self.bytes, external: self.external }
    }
}

impl RootSum {
    pub(super) fn sizes(&self) -> Sizes {
        Sizes { heap: self.retained, external: self.retained_external }
    }

    pub(super) fn joint_sizes(&self) -> Sizes {
        Sizes { heap: self.jointly_retained, external: self.jointly_retained_external }
    }
}

impl OwnerSum {
    pub(super) fn sizes(&self) -> Sizes {
        Sizes { heap: self.owned, external: self.owned_external }
    }
}

impl AsRef<Self> for Summary {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Summary {
    /// Sizes of all that is alive.
    pub(super) fn sizes(&self) -> Sizes {
        Sizes { heap: self.bytes, external: self.external }
    }

    /// Sizes of what several kinds of roots retain jointly.
    pub(super) fn several_sizes(&self) -> Sizes {
        Sizes { heap: self.several, external: self.several_external }
    }

    /// Forgets all but this many kinds and owners, and as many roots, of those that are part of others.
    pub fn truncate(&mut self, most: usize) {
        self.kinds.truncate(most);
        self.owners.truncate(most);
        let mut kept = 0;
        self.roots.retain(|root| {
            kept += usize::from(root.depth > 0);
            root.depth == 0 || kept <= most
        });
    }
}

/// All owners, the largest first.
fn owners(heap: &Heap<'_>) -> Vec<OwnerSum> {
    let root_nodes = heap.graph.root_nodes();
    let mut sums: BTreeMap<(&'static str, String), [Bytes; 2]> = BTreeMap::new();
    for (root_node, owned) in (0..).map(RootNodeId).zip(heap.graph.owned()) {
        if owned.words.0 > 0 || owned.external.0 > 0 {
            let [inside, outside] =
                sums.entry(stored_owner(heap, root_nodes.get(root_node))).or_default();
            *inside += owned.words.bytes();
            *outside += owned.external;
        }
    }
    let mut owners: Vec<OwnerSum> = sums
        .into_iter()
        .map(|((kind, name), [owned, owned_external])| OwnerSum {
            kind: kind.to_owned(),
            name,
            owned,
            owned_external,
        })
        .collect();
    owners.sort_rows_by_key(|owner| Reverse((owner.sizes().all(), owner.owned)));
    owners
}

/// The kind and names of a root node, as summaries and their [differences](super::diff) have them.
pub fn stored_root(heap: &Heap<'_>, root_node: RootNodeId) -> (&'static str, String) {
    match heap.graph.root_nodes().get(root_node) {
        RootNode::Everything => (SEVERAL_KINDS, String::new()),
        root => stored_owner(heap, root),
    }
}

/// The kind and names of an owner, as a summary has them.
pub(super) fn stored_owner(heap: &Heap<'_>, owner: RootNode) -> (&'static str, String) {
    let labels = &heap.snapshot.labels;
    match owner {
        RootNode::Label(id) => {
            let kind = labels.get(id).map_or("", |label| label.kind.name());
            (kind, stored_path(labels, id).join(" / "))
        }
        RootNode::Kind(kind) => (kind.name(), String::new()),
        RootNode::Everything => ("", String::new()),
    }
}

/// All roots that retain something, the largest first, and what several kinds retain jointly.
fn roots(heap: &Heap<'_>) -> (Vec<RootSum>, Sizes) {
    let (graph, labels) = (&heap.graph, &heap.snapshot.labels);
    let root_nodes = graph.root_nodes();
    let parts = parts(heap);
    let beside_parts = |root_node| Sizes::from(beside_parts(heap, &parts, root_node));
    let mut sums: BTreeMap<(&'static str, Vec<String>), [Sizes; 2]> = BTreeMap::new();
    for root_node in (0..root_nodes.len() as u32).map(RootNodeId) {
        match root_nodes.get(root_node) {
            RootNode::Everything => {}
            RootNode::Kind(kind) => {
                let sum = sums.entry((kind.name(), Vec::new())).or_default();
                sum[0] += beside_parts(root_node);
                sum[1] += jointly_retained(heap, &parts, root_node).into();
            }
            RootNode::Label(id) => {
                let Some(label) = labels.get(id) else { continue };
                let sum = sums.entry((label.kind.name(), stored_path(labels, id))).or_default();
                sum[0] += held(heap, root_node).into();
                sum[1] += jointly_retained(heap, &parts, root_node).into();
            }
        }
    }
    let mut roots: Vec<RootSum> = sums
        .into_iter()
        .filter(|(_, [retained, _])| retained.all().0 > 0)
        .map(|((kind, path), [retained, joint])| RootSum {
            kind: kind.to_owned(),
            depth: path.len().saturating_sub(1),
            name: path.join(" / "),
            retained: retained.heap,
            retained_external: retained.external,
            jointly_retained: joint.heap,
            jointly_retained_external: joint.external,
        })
        .collect();
    roots.sort_rows_by_key(|root| Reverse(root.sizes().all()));
    (roots, beside_parts(SUPER_ROOT))
}
