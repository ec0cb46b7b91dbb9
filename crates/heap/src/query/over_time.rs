//! What was alive over many snapshots, and what grew from each to the next.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use memtrail_order::SortRows as _;
use serde::Serialize;

use super::names::{STATIC, joint_name_of};
use super::sizes::Sizes;
use super::summary::Summary;
use super::trend::{Trend, rise};
use crate::units::Bytes;

/// What there is a series of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesBy {
    /// Kinds of blocks.
    Kind,
    /// The coarsest roots.
    Root,
    /// Owners.
    Owner,
}

/// Which figures of roots there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootsBy {
    /// What is attributed to each owner: figures that add up.
    Owned,
    /// What each root retains alone.
    Retained,
}

/// What was alive in each of some snapshots.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HeapEvolution"))]
pub struct Evolution {
    /// Live bytes.
    pub total: Vec<Bytes>,
    /// Bytes outside the heap that go with them.
    pub external: Vec<Bytes>,
    /// Parts of that, those that were largest at any time first, off-heap memory included.
    pub series: Vec<Series>,
    /// What is in none of the series.
    pub rest: Vec<Bytes>,
    /// Bytes outside the heap that are in none of the series.
    pub rest_external: Vec<Bytes>,
}

/// A part of what was alive.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HeapSeries"))]
pub struct Series {
    /// Its name.
    pub name: String,
    /// The kind of root, of a root.
    pub kind: Option<String>,
    /// Of a global variable without a name, what it holds, where that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub holds: Option<String>,
    /// Bytes in each snapshot.
    pub bytes: Vec<Bytes>,
    /// Bytes outside the heap that go with them.
    pub external: Vec<Bytes>,
}

/// A series' name, and the kind of root.
type Key<'s> = (&'s str, Option<&'s str>);

/// What a summary says of each kind, or of each of the coarsest roots: parts of all that is alive.
fn parts(summary: &Summary, by: SeriesBy) -> Vec<(Key<'_>, Sizes)> {
    match by {
        SeriesBy::Kind => {
            summary.kinds.iter().map(|kind| ((kind.name.as_str(), None), kind.sizes())).collect()
        }
        SeriesBy::Root => {
            let roots = summary.roots.iter().filter(|root| root.depth == 0);
            roots
                .map(|root| ((name_of(&root.kind, &root.name), Some(&*root.kind)), root.sizes()))
                .chain([((joint_name_of(None), None), summary.several_sizes())])
                .collect()
        }
        SeriesBy::Owner => owned(summary).collect(),
    }
}

/// What a summary says of each owner.
fn owned(summary: &Summary) -> impl Iterator<Item = (Key<'_>, Sizes)> {
    summary.owners.iter().map(|owner| {
        let name = if owner.name.is_empty() { STATIC } else { &owner.name };
        ((name, Some(&*owner.kind)), owner.sizes())
    })
}

fn name_of<'s>(kind: &str, name: &'s str) -> &'s str {
    if name.is_empty() { joint_name_of(Some(kind)) } else { name }
}

/// What was alive over time, in at most `most` series.
pub fn evolution(snapshots: &[impl AsRef<Summary>], by: SeriesBy, most: usize) -> Evolution {
    let mut series: HashMap<Key<'_>, Vec<Sizes>> = HashMap::new();
    for (place, summary) in snapshots.iter().enumerate() {
        for (key, more) in parts(summary.as_ref(), by) {
            let sizes =
                series.entry(key).or_insert_with(|| vec![Sizes::default(); snapshots.len()]);
            sizes[place] += more;
        }
    }
    let mut series: Vec<(Key<'_>, Vec<Sizes>)> = series.into_iter().collect();
    let largest = |sizes: &[Sizes]| sizes.iter().map(|size| size.all()).max().unwrap_or_default();
    series.sort_rows_by_key(|(key, sizes)| (Reverse(largest(sizes)), *key));
    series.truncate(most);
    series.retain(|(_, sizes)| largest(sizes).0 > 0);
    let total: Vec<Sizes> = snapshots.iter().map(|summary| summary.as_ref().sizes()).collect();
    let rest = |of: fn(&Sizes) -> Bytes| -> Vec<Bytes> {
        let rest = total.iter().enumerate().map(|(place, total)| {
            let listed: Bytes = series.iter().map(|(_, sizes)| of(&sizes[place])).sum();
            Bytes(of(total).0.saturating_sub(listed.0))
        });
        rest.collect()
    };
    Evolution {
        total: heap(&total),
        external: external(&total),
        rest: rest(|size| size.heap),
        rest_external: rest(|size| size.external),
        series: series
            .iter()
            .map(|((name, kind), sizes)| Series {
                name: (*name).to_owned(),
                kind: kind.map(str::to_owned),
                holds: None,
                bytes: heap(sizes),
                external: external(sizes),
            })
            .collect(),
    }
}

fn heap(sizes: &[Sizes]) -> Vec<Bytes> {
    sizes.iter().map(|size| size.heap).collect()
}

fn external(sizes: &[Sizes]) -> Vec<Bytes> {
    sizes.iter().map(|size| size.external).collect()
}

/// What grew, from snapshot to snapshot.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "GrowthRow"))]
pub struct Growth {
    /// Its name: of a kind of block, or of a root.
    pub name: String,
    /// Whether it is a root.
    pub is_root: bool,
    /// The kind of root, of a root.
    pub kind: Option<String>,
    /// Of a global variable without a name, what it holds in the last snapshot, where that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub holds: Option<String>,
    /// By how much it grew, off-heap memory included, as [`Trend::growth`] says.
    pub grown: Bytes,
    /// Its bytes in each snapshot: a kind's own size, what a root owns or retains.
    pub bytes: Vec<Bytes>,
    /// Bytes outside the heap that go with that, in each snapshot.
    pub external: Vec<Bytes>,
    /// By how much its bytes grew, of all live bytes in the last snapshot.
    pub share: f64,
    /// The same with off-heap memory in both.
    pub share_with_external: f64,
    /// Whether it is what several roots retain jointly.
    #[serde(skip)]
    pub is_joint: bool,
}

impl Growth {
    /// Bytes in each snapshot, off-heap memory included.
    pub fn sizes(&self) -> impl DoubleEndedIterator<Item = Bytes> {
        self.bytes.iter().zip(&self.external).map(|(heap, external)| *heap + *external)
    }
}

/// Whether it is a root, the kind of root, and its name, which a joint sum has none of.
type GrownKey<'s> = (bool, Option<&'s str>, &'s str);

/// What grew, most grown first: see [`Trend`].
pub fn growth(snapshots: &[impl AsRef<Summary>], by: RootsBy) -> Vec<Growth> {
    let mut sizes: BTreeMap<GrownKey<'_>, Vec<Sizes>> = BTreeMap::new();
    for (place, summary) in snapshots.iter().map(AsRef::as_ref).enumerate() {
        let kinds = summary.kinds.iter().map(|kind| ((false, None, &*kind.name), kind.sizes()));
        let roots: Vec<(GrownKey<'_>, Sizes)> = match by {
            RootsBy::Owned => {
                owned(summary).map(|((name, kind), sizes)| ((true, kind, name), sizes)).collect()
            }
            RootsBy::Retained => summary
                .roots
                .iter()
                .map(|root| ((true, Some(&*root.kind), &*root.name), root.sizes()))
                .chain([((true, None, ""), summary.several_sizes())])
                .collect(),
        };
        for (key, more) in kinds.chain(roots) {
            let sizes = sizes.entry(key).or_insert_with(|| vec![Sizes::default(); snapshots.len()]);
            sizes[place] += more;
        }
    }
    let all = snapshots.last().map_or_else(Sizes::default, |summary| summary.as_ref().sizes());
    let trend = Trend::new(snapshots.len());
    let grown = sizes.into_iter().filter_map(|((is_root, kind, name), sizes)| {
        let all_sizes: Vec<u64> = sizes.iter().map(|size| size.all().0).collect();
        let grown = Bytes(trend.growth(&all_sizes)?);
        let in_heap: Vec<u64> = sizes.iter().map(|size| size.heap.0).collect();
        let is_joint = is_root && name.is_empty();
        Some(Growth {
            name: if is_joint { joint_name_of(kind) } else { name }.to_owned(),
            is_root,
            kind: kind.map(str::to_owned),
            holds: None,
            grown,
            bytes: heap(&sizes),
            external: external(&sizes),
            share: Bytes(rise(&in_heap)).share_of(all.heap),
            share_with_external: grown.share_of(all.all()),
            is_joint,
        })
    });
    let mut grown: Vec<Growth> = grown.collect();
    grown.sort_rows_by(|a, b| {
        (b.grown, &a.name, a.is_root, &a.kind).cmp(&(a.grown, &b.name, b.is_root, &b.kind))
    });
    grown
}
