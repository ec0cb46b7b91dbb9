//! What changed between two snapshots of the same program.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use memtrail_order::SortRows as _;
use memtrail_text::Renamed;
use serde::Serialize;

use super::names::{SEVERAL_KINDS, STATIC, joint_name_of};
use super::sizes::Sizes;
use super::summary::{MAX_KEPT, OwnerSum, Summary};
use crate::units::Bytes;

/// A kind of block or a root in two snapshots.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HeapChange"))]
pub struct Change {
    /// Its name.
    pub name: String,
    /// The variable's name in the earlier snapshot, if its module was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub renamed_from: Option<String>,
    /// The kind of root, of a root.
    pub kind: Option<String>,
    /// Of a global variable without a name, what it holds in the later snapshot, where that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub holds: Option<String>,
    /// Blocks before and after; of roots, not counted.
    pub blocks: Option<[u64; 2]>,
    /// Bytes before and after: a kind's own size, what a root owns or retains.
    pub bytes: [Bytes; 2],
    /// Bytes outside the heap that go with that, before and after.
    pub external: [Bytes; 2],
    /// By how much its bytes changed, of all live bytes in the snapshot where these are more.
    pub share: f64,
    /// The same with off-heap memory in both.
    pub share_with_external: f64,
    /// Whether it is what several roots retain jointly.
    #[serde(skip)]
    pub is_joint: bool,
}

impl Change {
    /// A change of something with a name and, if it is a root, a kind.
    fn new((kind, name): RootKey<'_>, sizes: [Sizes; 2], all: AllAlive) -> Self {
        Self {
            name: name.to_owned(),
            renamed_from: None,
            kind: kind.map(str::to_owned),
            holds: None,
            blocks: None,
            bytes: sizes.map(|side| side.heap),
            external: sizes.map(|side| side.external),
            share: difference(sizes.map(|side| side.heap)).share_of(all.heap),
            share_with_external: difference(sizes.map(Sizes::all)).share_of(all.with_external),
            is_joint: false,
        }
    }

    /// Bytes before and after, off-heap memory included.
    pub fn sizes(&self) -> [Bytes; 2] {
        [0, 1].map(|side| self.bytes[side] + self.external[side])
    }

    /// By how many bytes it grew.
    fn growth(&self) -> i128 {
        let [before, after] = self.sizes();
        i128::from(after.0) - i128::from(before.0)
    }
}

/// Live bytes of the snapshot that has more of them, without and with off-heap memory.
#[derive(Clone, Copy)]
struct AllAlive {
    heap: Bytes,
    with_external: Bytes,
}

impl AllAlive {
    fn of(sides: [Sizes; 2]) -> Self {
        let [before, after] = sides;
        Self { heap: before.heap.max(after.heap), with_external: before.all().max(after.all()) }
    }
}

fn difference([before, after]: [Bytes; 2]) -> Bytes {
    Bytes(before.0.abs_diff(after.0))
}

/// What changed between two snapshots.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HeapDiffResponse"))]
pub struct Difference {
    /// By kind of block.
    pub kinds: Vec<Change>,
    /// By root, what it retains: labels of the same kind and names are one.
    pub roots: Vec<Change>,
    /// By root with parts, what several of these retain jointly; a whole kind has no name.
    pub joint: Vec<Change>,
    /// By owner, what is attributed to it: the sum is that of all that is alive.
    pub owners: Vec<Change>,
    /// What is too small to be compared.
    pub unknown: Unknown,
    /// Live bytes before and after.
    pub bytes: [Bytes; 2],
    /// Bytes outside the heap that go with them, before and after.
    pub external: [Bytes; 2],
    /// Live blocks before and after.
    pub blocks: [u64; 2],
}

/// Up to which size nothing is known of what is not among the changes, before and after: of a snapshot with very many kinds,
/// roots or owners the largest are kept. 0 if all are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "HeapDiffUnknown"))]
pub struct Unknown {
    /// Of kinds of block.
    pub kinds: [Bytes; 2],
    /// Of roots, and of what several retain jointly.
    pub roots: [Bytes; 2],
    /// Of owners.
    pub owners: [Bytes; 2],
}

impl Unknown {
    fn of(sides: [&Summary; 2]) -> Self {
        Self {
            kinds: sides
                .map(|side| unknown_up_to(side.kinds.iter().map(|kind| kind.sizes().all()))),
            roots: sides
                .map(|side| unknown_up_to(side.roots.iter().map(|root| root.sizes().all()))),
            owners: sides
                .map(|side| unknown_up_to(side.owners.iter().map(|owner| owner.sizes().all()))),
        }
    }
}

/// The smallest of those that were kept, if there were more.
fn unknown_up_to(kept: impl ExactSizeIterator<Item = Bytes>) -> Bytes {
    if kept.len() == MAX_KEPT { kept.min().unwrap_or_default() } else { Bytes(0) }
}

/// A kind of root, and names; a joint sum has none.
type RootKey<'s> = (Option<&'s str>, &'s str);

/// Compares two snapshots; the largest change comes first. Owners are the same if their names are: of another build these have
/// to be [named](Summary::name_owners) first, as the numbers of fields are others.
pub fn diff(before: &Summary, after: &Summary) -> Difference {
    let all = AllAlive::of([before, after].map(Summary::sizes));
    let mut kinds: BTreeMap<&str, ([u64; 2], [Sizes; 2])> = BTreeMap::new();
    let mut roots: BTreeMap<RootKey<'_>, [Sizes; 2]> = BTreeMap::new();
    let mut joint: BTreeMap<RootKey<'_>, [Sizes; 2]> = BTreeMap::new();
    let mut owners: BTreeMap<RootKey<'_>, [Sizes; 2]> = BTreeMap::new();
    for (side, summary) in [before, after].into_iter().enumerate() {
        for kind in &summary.kinds {
            let entry = kinds.entry(&kind.name).or_default();
            (entry.0[side], entry.1[side]) = (kind.blocks, kind.sizes());
        }
        for root in &summary.roots {
            let key = (Some(root.kind.as_str()), root.name.as_str());
            roots.entry(key).or_default()[side] = root.sizes();
            // All of a kind without labels is shown as what it retains jointly.
            let is_kind = root.name.is_empty();
            joint.entry(key).or_default()[side] =
                if is_kind { root.sizes() } else { root.joint_sizes() };
        }
        roots.entry((None, "")).or_default()[side] = summary.several_sizes();
        joint.entry((Some(SEVERAL_KINDS), "")).or_default()[side] = summary.several_sizes();
        for owner in &summary.owners {
            owners.entry((Some(&owner.kind), &owner.name)).or_default()[side] = owner.sizes();
        }
    }
    let earlier_names = join_renamed(&mut owners, before, after);
    let kinds = kinds.into_iter().map(|(name, (blocks, sizes))| Change {
        blocks: Some(blocks),
        ..Change::new((None, name), sizes, all)
    });
    let roots = roots.into_iter().map(|((kind, name), sizes)| {
        let shown = if name.is_empty() { joint_name_of(kind) } else { name };
        Change { is_joint: name.is_empty(), ..Change::new((kind, shown), sizes, all) }
    });
    let joint = joint
        .into_iter()
        .map(|(key, sizes)| Change { is_joint: true, ..Change::new(key, sizes, all) });
    let owners = owners.into_iter().map(|((kind, name), sizes)| Change {
        renamed_from: earlier_names.get(&(kind, name)).cloned(),
        ..Change::new((kind, if name.is_empty() { STATIC } else { name }), sizes, all)
    });
    Difference {
        owners: changed(owners.collect()),
        kinds: changed(kinds.collect()),
        roots: changed(roots.collect()),
        joint: changed(joint.collect()),
        unknown: Unknown::of([before, after]),
        bytes: [before.bytes, after.bytes],
        external: [before.external, after.external],
        blocks: [before.blocks, after.blocks],
    }
}

/// Makes one row of a variable whose module was renamed. The answer is its earlier name.
fn join_renamed<'s>(
    owners: &mut BTreeMap<RootKey<'s>, [Sizes; 2]>,
    before: &'s Summary,
    after: &'s Summary,
) -> BTreeMap<RootKey<'s>, String> {
    let names = |side: &'s Summary| side.owners.iter().map(|owner| owner.name.as_str());
    let renamed = Renamed::between(names(before), names(after));
    let mut earlier_names = BTreeMap::new();
    for owner in &after.owners {
        let Some(earlier) = renamed.earlier_name(&owner.name) else { continue };
        let same = |other: &&OwnerSum| other.kind == owner.kind && other.name == earlier;
        let Some(old) = before.owners.iter().find(same) else { continue };
        let key = (Some(owner.kind.as_str()), owner.name.as_str());
        owners.remove(&(Some(old.kind.as_str()), old.name.as_str()));
        owners.entry(key).or_default()[0] = old.sizes();
        earlier_names.insert(key, earlier);
    }
    earlier_names
}

fn changed(mut changes: Vec<Change>) -> Vec<Change> {
    // Bytes that move between the heap and memory outside are a change, too.
    changes.retain(|change| change.bytes[0] != change.bytes[1] || change.growth() != 0);
    changes.sort_rows_by_key(|change| Reverse(change.growth().abs()));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is beyond the largest 4,096 read as the same in both.
    #[test]
    fn what_is_not_kept_is_not_known() {
        let kept = |count: usize| unknown_up_to((0..count).map(|place| Bytes(place as u64 + 8)));
        assert_eq!(kept(MAX_KEPT), Bytes(8));
        // All are there, or the summary is complete.
        assert_eq!([kept(0), kept(12), kept(MAX_KEPT + 1)], [Bytes(0); 3]);
    }
}
