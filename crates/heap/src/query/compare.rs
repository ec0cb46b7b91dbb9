//! What changed between snapshots of the same program.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Heap;
use super::histogram::{Histogram, histogram};
use super::names::label_path;
use super::roots::{parts, together};
use crate::graph::{Holder, HolderId};
use crate::read::Error;
use crate::units::Bytes;

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
    let histograms = [histogram(before)?, histogram(after)?];
    let mut kinds: BTreeMap<&str, ([u64; 2], [Bytes; 2])> = BTreeMap::new();
    for (side, histogram) in histograms.iter().enumerate() {
        for row in &histogram.rows {
            let entry = kinds.entry(&row.kind).or_default();
            entry.0[side] = row.blocks;
            entry.1[side] = row.bytes;
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
        .map(|(name, (blocks, bytes))| Change {
            name: name.to_owned(),
            blocks: Some(blocks),
            bytes,
        })
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
    Ok(Difference { kinds, roots, bytes: [histograms[0].bytes, histograms[1].bytes] })
}

/// What each label that retains something does, by its full name; and what several modules, or
/// several kinds of roots, keep together. That is where a leak is that no root retains alone.
fn retained_by_name(heap: &Heap<'_>) -> Vec<(String, Bytes)> {
    let holders = heap.graph.holders();
    let parts = parts(heap);
    (0..holders.len() as u32)
        .map(HolderId)
        .filter_map(|holder| {
            Some(match holders.get(holder) {
                Holder::Everything => {
                    ("several kinds of roots together".into(), together(heap, &parts, holder)[0])
                }
                Holder::Kind(kind) => (
                    format!("{}: several together", kind.name()),
                    together(heap, &parts, holder)[0],
                ),
                Holder::Label(label) => {
                    let kind = heap.snapshot.labels.get(label)?.kind;
                    let path = label_path(&heap.snapshot.labels, label).join(" / ");
                    (format!("{}: {path}", kind.name()), heap.graph.held(holder).bytes())
                }
            })
        })
        .filter(|(_, bytes)| bytes.0 > 0)
        .collect()
}

/// What grew from each snapshot to the next.
#[derive(Clone, Debug, Serialize)]
pub struct Growth {
    /// Its name: a kind of block, or a root.
    pub name: String,
    /// Whether it is a root.
    pub is_root: bool,
    /// Its bytes in each snapshot: a kind's own size, what a root retains.
    pub bytes: Vec<Bytes>,
}

/// A snapshot as far as growth goes: to be made of each, one after the other, so that not all have
/// to be there at once.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    kinds: BTreeMap<String, Bytes>,
    roots: BTreeMap<String, Bytes>,
}

impl Measured {
    /// Measures a snapshot.
    ///
    /// # Errors
    /// If a section of the snapshot is damaged.
    pub fn new(heap: &Heap<'_>) -> Result<Self, Error> {
        let Histogram { rows, .. } = histogram(heap)?;
        let mut roots: BTreeMap<String, Bytes> = BTreeMap::new();
        for (name, bytes) in retained_by_name(heap) {
            *roots.entry(name).or_default() += bytes;
        }
        Ok(Self { kinds: rows.into_iter().map(|row| (row.kind, row.bytes)).collect(), roots })
    }
}

/// What grew every time, most grown first.
pub fn growth(snapshots: &[Measured]) -> Vec<Growth> {
    let mut found = Vec::new();
    let Some(last) = snapshots.last() else { return found };
    for is_root in [false, true] {
        let of = |measured: &'_ Measured| -> BTreeMap<String, Bytes> {
            if is_root { measured.roots.clone() } else { measured.kinds.clone() }
        };
        let tables: Vec<_> = snapshots.iter().map(of).collect();
        for name in of(last).into_keys() {
            let bytes: Vec<Bytes> =
                tables.iter().map(|table| table.get(&name).copied().unwrap_or_default()).collect();
            if bytes.len() > 1 && bytes.is_sorted_by(|a, b| a < b) {
                found.push(Growth { name, is_root, bytes });
            }
        }
    }
    found.sort_by_key(|growth| {
        let first = growth.bytes.first().map_or(0, |bytes| bytes.0);
        std::cmp::Reverse(growth.bytes.last().map_or(0, |bytes| bytes.0) - first)
    });
    found
}
