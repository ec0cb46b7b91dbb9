//! Sampled blocks by paths that they have in common, as nested boxes: calls that allocated them, or references that
//! retain them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

use memtrail_heap::BlockIndex;
use memtrail_order::SortRows as _;
use memtrail_profile::Profile;
use serde::Serialize;

use super::join::Live;
use crate::names::Budget;

/// Boxes at most.
const MAX_BOXES: usize = 4000;

/// A box: blocks whose paths begin in the same way.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SampledBox {
    /// The box that it is in: one of those before it.
    pub parent: u32,
    /// What the path leads on to here.
    pub name: String,
    /// What filters call it, if it is a function or a call site.
    pub key: Option<String>,
    /// Where it is in the source: `cache.ml:41`.
    pub place: Option<String>,
    /// Bytes of all blocks, sampled or not: an estimate.
    pub bytes: f64,
    /// How many blocks were sampled.
    pub sampled: u64,
    /// When the first and the last of these were allocated, in seconds since the start.
    pub allocated: [f64; 2],
    /// One of them.
    pub example: BlockIndex,
}

/// What a step of a path is shown as.
pub(super) struct StepName {
    pub(super) name: String,
    pub(super) key: Option<String>,
    pub(super) place: Option<String>,
}

/// Blocks by the steps of their paths.
pub(super) struct PathTree<K> {
    boxes: Vec<Counted<K>>,
    known: HashMap<(u32, K), u32>,
}

struct Counted<K> {
    parent: u32,
    /// None for that of all blocks.
    step: Option<K>,
    samples: u64,
    sampled: u64,
    /// Microseconds.
    allocated: [u64; 2],
    example: BlockIndex,
}

impl<K: Clone + Eq + Hash> PathTree<K> {
    pub(super) fn new() -> Self {
        Self { boxes: Vec::new(), known: HashMap::new() }
    }

    /// Adds a block with its path.
    pub(super) fn add(&mut self, profile: &Profile, live: Live, path: impl IntoIterator<Item = K>) {
        let samples = profile.blocks.samples(live.row);
        let moment = profile.blocks.allocated(live.row).0;
        let mut at = 0;
        if self.boxes.is_empty() {
            self.boxes.push(Counted::new(0, None, live.block));
        }
        self.boxes[0].count(samples, moment);
        for step in path {
            let next = self.boxes.len() as u32;
            let found = *self.known.entry((at, step.clone())).or_insert(next);
            if found == next {
                self.boxes.push(Counted::new(at, Some(step), live.block));
            }
            self.boxes[found as usize].count(samples, moment);
            at = found;
        }
    }

    /// The largest boxes, each after the one that it is in; that of all blocks has the name `whole`.
    pub(super) fn finish(
        self,
        profile: &Profile,
        limit: usize,
        whole: &str,
        name: impl Fn(&K) -> StepName,
    ) -> Vec<SampledBox> {
        let mut order: Vec<usize> = (0..self.boxes.len()).collect();
        // What is in a box has no more samples than it, and came later.
        order.sort_rows_by_key(|at| (Reverse(self.boxes[*at].samples), *at));
        order.truncate(limit.min(MAX_BOXES));
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut budget = Budget::large();
        let bytes_per_sample = profile.estimator.bytes_per_sample();
        let mut rows = Vec::with_capacity(order.len());
        for at in order {
            let counted = &self.boxes[at];
            let shown = counted
                .step
                .as_ref()
                .map_or_else(|| StepName { name: whole.to_owned(), key: None, place: None }, &name);
            let texts = [&shown.key, &shown.place].map(|text| text.as_ref().map_or(0, String::len));
            if !budget.take(160 + shown.name.len() + texts[0] + texts[1]) {
                break;
            }
            places.insert(at as u32, rows.len() as u32);
            rows.push(SampledBox {
                parent: places.get(&counted.parent).copied().unwrap_or(0),
                name: shown.name,
                key: shown.key,
                place: shown.place,
                bytes: counted.samples as f64 * bytes_per_sample,
                sampled: counted.sampled,
                allocated: counted.allocated.map(|moment| moment as f64 / 1e6),
                example: counted.example,
            });
        }
        rows
    }
}

impl<K> Counted<K> {
    const fn new(parent: u32, step: Option<K>, example: BlockIndex) -> Self {
        Self { parent, step, samples: 0, sampled: 0, allocated: [u64::MAX, 0], example }
    }

    fn count(&mut self, samples: u64, moment: u64) {
        self.samples += samples;
        self.sampled += 1;
        let [first, last] = self.allocated;
        self.allocated = [first.min(moment), last.max(moment)];
    }
}
