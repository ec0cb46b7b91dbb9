//! What was alive over many snapshots, and what grew from each to the next.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::names::{STATIC, joint_name_of};
use super::summary::Summary;
use super::trend::Trend;
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
    /// Parts of that, those that were largest at any time first.
    pub series: Vec<Series>,
    /// What is in none of the series.
    pub rest: Vec<Bytes>,
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
}

/// A series' name, and the kind of root.
type Key<'s> = (&'s str, Option<&'s str>);

/// What a summary says of each kind, or of each of the coarsest roots: parts of all that is alive.
fn parts(summary: &Summary, by: SeriesBy) -> Vec<(Key<'_>, Bytes)> {
    match by {
        SeriesBy::Kind => {
            summary.kinds.iter().map(|kind| ((kind.name.as_str(), None), kind.bytes)).collect()
        }
        SeriesBy::Root => {
            let roots = summary.roots.iter().filter(|root| root.depth == 0);
            roots
                .map(|root| ((name_of(&root.kind, &root.name), Some(&*root.kind)), root.retained))
                .chain([((joint_name_of(None), None), summary.several)])
                .collect()
        }
        SeriesBy::Owner => owned(summary).collect(),
    }
}

/// What a summary says of each owner.
fn owned(summary: &Summary) -> impl Iterator<Item = (Key<'_>, Bytes)> {
    summary.owners.iter().map(|owner| {
        let name = if owner.name.is_empty() { STATIC } else { &owner.name };
        ((name, Some(&*owner.kind)), owner.owned)
    })
}

fn name_of<'s>(kind: &str, name: &'s str) -> &'s str {
    if name.is_empty() { joint_name_of(Some(kind)) } else { name }
}

/// What was alive over time, in at most `most` series.
pub fn evolution(snapshots: &[impl AsRef<Summary>], by: SeriesBy, most: usize) -> Evolution {
    let mut series: HashMap<Key<'_>, Vec<Bytes>> = HashMap::new();
    for (place, summary) in snapshots.iter().enumerate() {
        for (key, bytes) in parts(summary.as_ref(), by) {
            let sizes = series.entry(key).or_insert_with(|| vec![Bytes(0); snapshots.len()]);
            sizes[place] += bytes;
        }
    }
    let mut series: Vec<(Key<'_>, Vec<Bytes>)> = series.into_iter().collect();
    series.sort_by_key(|(key, bytes)| (Reverse(bytes.iter().max().copied()), *key));
    series.truncate(most);
    series.retain(|(_, bytes)| bytes.iter().any(|bytes| bytes.0 > 0));
    let total: Vec<Bytes> = snapshots.iter().map(|summary| summary.as_ref().bytes).collect();
    let rest = total.iter().enumerate().map(|(place, total)| {
        let listed: Bytes = series.iter().map(|(_, bytes)| bytes[place]).sum();
        Bytes(total.0.saturating_sub(listed.0))
    });
    let rest = rest.collect();
    let series = series.into_iter().map(|((name, kind), bytes)| Series {
        name: name.to_owned(),
        kind: kind.map(str::to_owned),
        holds: None,
        bytes,
    });
    Evolution { series: series.collect(), total, rest }
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
    /// By how much it grew, as [`Trend::growth`] says.
    pub grown: Bytes,
    /// Its bytes in each snapshot: a kind's own size, what a root owns or retains.
    pub bytes: Vec<Bytes>,
    /// By how much it grew, of all live bytes in the last snapshot.
    pub share: f64,
    /// Whether it is what several roots retain jointly.
    #[serde(skip)]
    pub is_joint: bool,
}

/// Whether it is a root, the kind of root, and its name, which a joint sum has none of.
type GrownKey<'s> = (bool, Option<&'s str>, &'s str);

/// What grew, most grown first: see [`Trend`].
pub fn growth(snapshots: &[impl AsRef<Summary>], by: RootsBy) -> Vec<Growth> {
    let mut sizes: BTreeMap<GrownKey<'_>, Vec<u64>> = BTreeMap::new();
    for (place, summary) in snapshots.iter().map(AsRef::as_ref).enumerate() {
        let kinds = summary.kinds.iter().map(|kind| ((false, None, &*kind.name), kind.bytes));
        let roots: Vec<(GrownKey<'_>, Bytes)> = match by {
            RootsBy::Owned => {
                owned(summary).map(|((name, kind), bytes)| ((true, kind, name), bytes)).collect()
            }
            RootsBy::Retained => summary
                .roots
                .iter()
                .map(|root| ((true, Some(&*root.kind), &*root.name), root.retained))
                .chain([((true, None, ""), summary.several)])
                .collect(),
        };
        for (key, bytes) in kinds.chain(roots) {
            let sizes = sizes.entry(key).or_insert_with(|| vec![0; snapshots.len()]);
            sizes[place] = sizes[place].saturating_add(bytes.0);
        }
    }
    let all = snapshots.last().map_or(Bytes(0), |summary| summary.as_ref().bytes);
    let trend = Trend::new(snapshots.len());
    let grown = sizes.into_iter().filter_map(|((is_root, kind, name), sizes)| {
        let grown = Bytes(trend.growth(&sizes)?);
        let is_joint = is_root && name.is_empty();
        Some(Growth {
            name: if is_joint { joint_name_of(kind) } else { name }.to_owned(),
            is_root,
            kind: kind.map(str::to_owned),
            holds: None,
            grown,
            bytes: sizes.into_iter().map(Bytes).collect(),
            share: grown.share_of(all),
            is_joint,
        })
    });
    let mut grown: Vec<Growth> = grown.collect();
    grown.sort_by(|a, b| {
        (b.grown, &a.name, a.is_root, &a.kind).cmp(&(a.grown, &b.name, b.is_root, &b.kind))
    });
    grown
}
