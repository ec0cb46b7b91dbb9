//! Random heaps as they are drawn.

use memtrail_heap::RootKind;
use memtrail_heap::read::Strength;
use proptest::prelude::*;

/// A heap as it is drawn: everything by number.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// For each block its fields: other blocks, or integers.
    pub(super) blocks: Vec<Vec<Option<usize>>>,
    /// Those that are closures, unless they have bytes outside the heap.
    pub(super) closures: Vec<usize>,
    pub(super) statics: usize,
    /// For each label the one above.
    pub(super) labels: Vec<Option<usize>>,
    /// For each label what sort of roots it is of.
    pub(super) kinds: Vec<RootKind>,
    /// For each label its name.
    pub(super) names: Vec<&'static str>,
    pub(super) roots: Vec<(usize, usize, Strength)>,
    /// Data and keys.
    pub(super) ephemerons: Vec<(Option<usize>, Vec<usize>)>,
    /// Functions, values, and whether they are of `Gc.finalise_last`.
    pub(super) finalisers: Vec<(usize, usize, bool)>,
}

impl Plan {
    /// Bytes outside the heap: some blocks that point to nothing are custom blocks with such.
    pub(super) fn external(&self, block: usize) -> u64 {
        let custom = block.is_multiple_of(2)
            && block >= self.statics
            && self.blocks.get(block).is_some_and(|fields| fields.iter().all(Option::is_none));
        if custom { 1 << block } else { 0 }
    }

    /// Memory outside the heap that it shares: some custom blocks do.
    pub(super) fn owner(&self, block: usize) -> Option<usize> {
        (self.external(block) > 0 && !block.is_multiple_of(3)).then_some(block / 2 % 2)
    }

    /// All such memory, in the order of blocks that first have it.
    pub(super) fn owners(&self) -> Vec<usize> {
        let mut owners = Vec::new();
        for owner in (0..self.blocks.len()).filter_map(|block| self.owner(block)) {
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        owners
    }

    /// Finalisers whose functions wait for their values: number, function, value, kind.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (usize, usize, usize, bool)> {
        let statics = self.statics;
        let all = self.finalisers.clone().into_iter().enumerate();
        all.filter(move |(_, (function, value, _))| *function >= statics && *value >= statics)
            .map(|(place, (function, value, is_last))| (place, function, value, is_last))
    }

    /// Words with header.
    pub(super) fn size(&self, block: usize) -> u64 {
        match self.blocks.get(block) {
            _ if self.external(block) > 0 => 3 + u64::from(self.owner(block).is_some()),
            Some(fields) if self.closures.contains(&block) => fields.len() as u64 + 4,
            Some(fields) => fields.len() as u64 + 2,
            None => 3 + self.ephemerons[block - self.blocks.len()].1.len() as u64,
        }
    }
}

pub(super) fn plan(
    ephemerons: usize,
    keys: usize,
    finalisers: usize,
) -> impl Strategy<Value = Plan> {
    (1usize..14).prop_flat_map(move |count| {
        let block = || prop_oneof![5 => (0..count).prop_map(Some), 1 => Just(None)];
        (
            proptest::collection::vec(proptest::collection::vec(block(), 0..4), count),
            0..=count / 4,
            proptest::collection::vec(proptest::option::of(0usize..3), 1..5),
            proptest::collection::vec(
                (
                    0usize..5,
                    0..count,
                    prop_oneof![
                        6 => Just(Strength::Strong),
                        1 => Just(Strength::Finaliser),
                        1 => Just(Strength::Weak)
                    ],
                ),
                0..5,
            ),
            proptest::collection::vec(
                (block(), proptest::collection::vec(0..count, 0..=keys)),
                0..=ephemerons,
            ),
            proptest::collection::vec((0..count, 0..count, any::<bool>()), 0..=finalisers),
        )
            .prop_map(|(blocks, statics, labels, roots, ephemerons, finalisers)| Plan {
                labels: labels
                    .iter()
                    .enumerate()
                    .map(|(id, above)| above.filter(|above| *above < id))
                    .collect(),
                kinds: vec![RootKind::Global; labels.len()],
                names: vec!["name"; labels.len()],
                closures: Vec::new(),
                roots: roots
                    .into_iter()
                    .map(|(label, block, how)| (label % labels.len(), block, how))
                    .collect(),
                blocks,
                statics,
                ephemerons,
                finalisers,
            })
    })
}
