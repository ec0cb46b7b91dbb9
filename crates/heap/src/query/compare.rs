//! What changed between snapshots of the same program.

use std::collections::BTreeMap;

use serde::Serialize;

use super::heap::Heap;
use super::histogram::sums;
use super::names::label_path;
use super::roots::{jointly_retained, parts};
use super::summary::Summary;
use super::trend::Trend;
use crate::graph::{RootNode, RootNodeId};
use crate::read::Error;
use crate::units::{Bytes, Words};

/// A kind of block or a root in two snapshots.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Blocks before and after; of roots, not counted.
    pub blocks: Option<[u64; 2]>,
    /// Bytes before and after: a kind's own size, what a root retains.
    pub bytes: [Bytes; 2],
}

impl Change {
    fn grown(&self) -> i128 {
        i128::from(self.bytes[1].0) - i128::from(self.bytes[0].0)
    }
}

/// What no single kind of roots keeps.
const SEVERAL: &str = "jointly retained by several kinds of roots";

/// What changed between two snapshots, most grown first.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// By kind of block.
    pub kinds: Vec<Change>,
    /// By root: labels of the same names are one.
    pub roots: Vec<Change>,
    /// Live bytes before and after.
    pub bytes: [Bytes; 2],
}

/// Compares two snapshots.
///
/// # Errors
/// If a section of a snapshot is damaged.
pub fn diff(before: &Heap<'_>, after: &Heap<'_>) -> Result<Difference, Error> {
    let mut kinds: BTreeMap<String, ([u64; 2], [Bytes; 2])> = BTreeMap::new();
    let mut bytes = [Bytes(0); 2];
    for (side, heap) in [before, after].into_iter().enumerate() {
        let (sums, ..) = sums(heap)?;
        for (kind, sum) in sums {
            let entry = kinds.entry(kind.name(&heap.snapshot)).or_default();
            entry.0[side] += sum.blocks;
            entry.1[side] += Words(sum.words).bytes();
            bytes[side] += Words(sum.words).bytes();
        }
    }
    let mut roots: BTreeMap<String, [Bytes; 2]> = BTreeMap::new();
    for (side, heap) in [before, after].into_iter().enumerate() {
        for (name, bytes) in retained_by_name(heap) {
            roots.entry(name).or_default()[side] += bytes;
        }
    }
    let mut kinds: Vec<Change> = kinds
        .into_iter()
        .map(|(name, (blocks, bytes))| Change { name, blocks: Some(blocks), bytes })
        .filter(|change| change.grown() != 0)
        .collect();
    let mut roots: Vec<Change> = roots
        .into_iter()
        .map(|(name, bytes)| Change { name, blocks: None, bytes })
        .filter(|change| change.grown() != 0)
        .collect();
    for changes in [&mut kinds, &mut roots] {
        changes.sort_by_key(|change| std::cmp::Reverse(change.grown()));
    }
    Ok(Difference { kinds, roots, bytes })
}

/// What each label that retains something does, by its full name; and what several modules, or
/// several kinds of roots, keep together. That is where a leak is that no root retains alone.
fn retained_by_name(heap: &Heap<'_>) -> Vec<(String, Bytes)> {
    let root_nodes = heap.graph.root_nodes();
    let parts = parts(heap);
    (0..root_nodes.len() as u32)
        .map(RootNodeId)
        .filter_map(|root_node| {
            Some(match root_nodes.get(root_node) {
                RootNode::Everything => {
                    (SEVERAL.into(), jointly_retained(heap, &parts, root_node)[0])
                }
                RootNode::Kind(kind) => (
                    format!("{}: several together", kind.name()),
                    jointly_retained(heap, &parts, root_node)[0],
                ),
                RootNode::Label(label) => {
                    let kind = heap.snapshot.labels.get(label)?.kind;
                    let path = label_path(&heap.snapshot.labels, label).join(" / ");
                    (format!("{}: {path}", kind.name()), heap.graph.held(root_node).bytes())
                }
            })
        })
        .filter(|(_, bytes)| bytes.0 > 0)
        .collect()
}

/// What grew, from snapshot to snapshot.
#[derive(Clone, Debug, Serialize)]
pub struct Growth {
    /// Its name: a kind of block, or a root.
    pub name: String,
    /// Whether it is a root.
    pub is_root: bool,
    /// By how much it grew, as [`Trend::growth`] says.
    pub grown: Bytes,
    /// Its bytes in each snapshot: a kind's own size, what a root retains.
    pub bytes: Vec<Bytes>,
}

/// What grew, most grown first: see [`Trend`].
pub fn growth(snapshots: &[impl AsRef<Summary>]) -> Vec<Growth> {
    let mut series: BTreeMap<(bool, String), Vec<u64>> = BTreeMap::new();
    for (place, summary) in snapshots.iter().enumerate() {
        for (is_root, name, bytes) in sizes(summary.as_ref()) {
            let sizes = series.entry((is_root, name)).or_insert_with(|| vec![0; snapshots.len()]);
            sizes[place] = sizes[place].saturating_add(bytes.0);
        }
    }
    let trend = Trend::new(snapshots.len());
    let mut found: Vec<Growth> = series
        .into_iter()
        .filter_map(|((is_root, name), sizes)| {
            let grown = Bytes(trend.growth(&sizes)?);
            Some(Growth { name, is_root, grown, bytes: sizes.into_iter().map(Bytes).collect() })
        })
        .collect();
    found.sort_by_key(|growth| std::cmp::Reverse(growth.grown));
    found
}

/// Kinds and roots by name, with their sizes; whether each is a root.
fn sizes(summary: &Summary) -> impl Iterator<Item = (bool, String, Bytes)> {
    let kinds = summary.kinds.iter().map(|kind| (false, kind.name.clone(), kind.bytes));
    let roots = summary.roots.iter().map(|root| {
        let name = if root.name.is_empty() { "jointly retained" } else { &root.name };
        (true, format!("{}: {name}", root.kind), root.retained)
    });
    let several = (true, SEVERAL.to_owned(), summary.several);
    kinds.chain(roots).chain([several])
}
