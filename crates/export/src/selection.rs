//! What is exported: the blocks that a filter keeps, by the backtrace that allocated them.

use std::cell::Cell;
use std::collections::BTreeMap;

use memtrail_profile::estimate::excess;
use memtrail_profile::filter::{Kept, Resolved};
use memtrail_profile::{Caveats, Profile};
use memtrail_trace::{FunctionId, StackId};

use crate::format::Format;
use crate::naming::Naming;
use crate::significant::{self, Most};
use crate::weight::Weight;
use crate::window::Window;

/// Labels as the user gives them: `service.name=shop`.
pub fn labels_as_given(labels: &BTreeMap<String, String>) -> Vec<String> {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect()
}

/// The blocks that a filter keeps.
pub struct Selection<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) title: String,
    pub(crate) conditions: Vec<String>,
    /// The labels that the user gave the recording.
    pub(crate) labels: BTreeMap<String, String>,
    /// What must be known of the figures.
    pub(crate) caveats: Caveats,
    pub(crate) naming: Naming<'a>,
    /// The part of the time that figures are of; all of it if `None`.
    pub(crate) window: Option<Window>,
    filter: &'a Resolved,
    keep: Box<dyn Fn(StackId) -> bool + 'a>,
    weights: Vec<Weight>,
    total: Weight,
    least: Cell<u64>,
    pub(crate) most: Most,
    /// Whether the format can take all paths as they are.
    pub(crate) is_whole: bool,
}

impl<'a> Selection<'a> {
    /// The blocks of `profile` that `filter` keeps, of those backtraces that `keep` does, for a
    /// format. `title` says of what program the export is, `conditions` are the filter's text.
    pub fn new(
        format: Format,
        profile: &'a Profile,
        filter: &'a Resolved,
        keep: impl Fn(StackId) -> bool + 'a,
        title: impl Into<String>,
        conditions: Vec<String>,
    ) -> Self {
        Self::within(format, None, profile, filter, keep, title, conditions)
    }

    /// The same, of a time window: what was allocated in it, and of all blocks what was live at its end.
    pub fn within(
        format: Format,
        window: Option<Window>,
        profile: &'a Profile,
        filter: &'a Resolved,
        keep: impl Fn(StackId) -> bool + 'a,
        title: impl Into<String>,
        conditions: Vec<String>,
    ) -> Self {
        let mut selection = Self {
            profile,
            title: title.into(),
            conditions,
            labels: BTreeMap::new(),
            caveats: Caveats::default(),
            naming: Naming::new(&profile.locations, filter.collapsed()),
            window,
            filter,
            keep: Box::new(keep),
            weights: vec![Weight::default(); profile.stacks.len()],
            total: Weight::default(),
            least: Cell::new(1),
            most: format.most(),
            is_whole: true,
        };
        selection.gather();
        let parents: Vec<u32> = profile.stacks.parents().iter().map(|stack| stack.0).collect();
        selection.is_whole = significant::all_fits(&parents, &selection.weights, selection.most);
        selection
    }

    /// The same, with what must be known of its figures.
    #[must_use]
    pub fn with_caveats(self, caveats: Caveats) -> Self {
        Self { caveats, ..self }
    }

    /// Adds the labels that the user gave the recording.
    #[must_use]
    pub fn with_labels(self, labels: &BTreeMap<String, String>) -> Self {
        Self { labels: labels.clone(), ..self }
    }

    /// The labels, as they are given: `service.name=shop`.
    pub(crate) fn labels(&self) -> Vec<String> {
        labels_as_given(&self.labels)
    }

    /// What all selected blocks weigh.
    pub fn total(&self) -> Weight {
        self.total
    }

    /// Paths that carry fewer bytes are counted as their callers'; 0 if no path is.
    pub fn least_bytes(&self) -> f64 {
        let least = self.least.get();
        if least > 1 { least as f64 * self.bytes_per_sample() } else { 0.0 }
    }

    /// Notes that paths which carry fewer samples are counted as their callers'.
    pub(crate) fn left_out(&self, least: u64) {
        self.least.set(self.least.get().max(least));
    }

    /// Bytes that a sample stands for.
    pub fn bytes_per_sample(&self) -> f64 {
        self.profile.estimator.bytes_per_sample()
    }

    /// What is allocated with exactly each backtrace, by its id.
    pub(crate) fn weights(&self) -> &[Weight] {
        &self.weights
    }

    /// Whether a function is left out of paths.
    pub(crate) fn hides(&self, function: FunctionId) -> bool {
        self.filter.hidden().contains(function)
    }

    /// The blocks one by one, in the order of the trace.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Kept> + '_ {
        let blocks = &self.profile.blocks;
        self.filter.rows(self.profile).filter(|kept| (self.keep)(blocks.stack(kept.row)))
    }

    fn gather(&mut self) {
        let Self { profile, filter, keep, weights, total, window, .. } = self;
        let blocks = &profile.blocks;
        for kept in filter.rows(profile) {
            let stack = blocks.stack(kept.row);
            if !keep(stack) {
                continue;
            }
            let came = window.is_none_or(|window| window.has(kept.born));
            let lives = window.map_or(kept.died.is_none(), |window| window.ends_with(&kept));
            if !came && !lives {
                continue;
            }
            let samples = blocks.samples(kept.row);
            let (length, source) = (blocks.length(kept.row), blocks.source(kept.row));
            let count = profile.estimator.weight(length, source, blocks.halvings(kept.row));
            let excess = excess(samples, blocks.halvings(kept.row)) as f64;
            let weight = Weight {
                samples: if came { samples } else { 0 },
                excess: if came { excess } else { 0.0 },
                live_excess: if lives { excess } else { 0.0 },
                live: if lives { samples } else { 0 },
                blocks: if came { count } else { 0.0 },
                live_blocks: if lives { count } else { 0.0 },
            };
            if let Some(sum) = weights.get_mut(stack.0 as usize) {
                *sum += weight;
                *total += weight;
            }
        }
    }
}
