//! What is live at a moment, by what allocated it, and how that changed shortly before: for those who watch a program.
//!
//! One pass over all blocks, whose sums are exact numbers of samples; the estimates are made of these.

use std::cmp::Reverse;
use std::collections::HashMap;

use memtrail_order::SortRows as _;
use memtrail_profile::blocks::Row;
use memtrail_profile::calls::Label;
use memtrail_profile::estimate::{Estimate, Sum};
use memtrail_profile::time::Elapsed;
use memtrail_profile::{Caveats, Profile};
use memtrail_trace::{Site, StackId};
use serde::Serialize;

use crate::describe::State;
use crate::heap::samples::{allocating_site, label};
use crate::names::row;
use crate::query::By;
use crate::recording::Recording;

mod sum;

/// Maximum number of rows.
const MAX_ROWS: usize = 2000;

/// What of a recording is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveSitesQuery {
    /// Number of the recording, from 0.
    pub rec: u32,
    /// What a row is about.
    pub by: By,
    /// Changes are looked at in so many seconds before the moment.
    pub window: f64,
    /// The moment, in seconds since the recording's start; the last event if absent or before that.
    pub at: Option<f64>,
    /// When the process ended, by which all that was live is freed; none if that is not to be counted.
    pub freed: Option<f64>,
}

/// What is live at a moment.
#[derive(Clone, Debug, Serialize)]
pub struct LiveSites {
    /// Path of the program.
    pub program: String,
    /// Whether more will come.
    pub state: State,
    /// How the recording ended, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The moment, in seconds since the recording's start.
    pub at: f64,
    /// The window before it: shorter than was asked for at a program's beginning.
    pub window: f64,
    /// All sums.
    pub all: LiveFigures,
    /// What moved to the major heap in the window, in bytes.
    pub promoted: Estimate,
    /// What was allocated since the beginning, in bytes.
    pub total: Estimate,
    /// The places; those whose live memory grew most first.
    pub rows: Vec<LiveSite>,
    /// How many rows there are.
    pub count: usize,
    /// What must be known of the figures.
    #[serde(skip_serializing_if = "Caveats::is_empty")]
    pub caveats: Caveats,
}

/// Figures of a place, or of all. Bytes, headers included.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LiveFigures {
    /// What is live.
    pub live: Estimate,
    /// By how much that is more than at the window's beginning; less if it is negative.
    pub change: Estimate,
    /// What was allocated in the window.
    pub allocated: Estimate,
    /// What was freed in the window.
    pub freed: Estimate,
    /// Live blocks.
    pub blocks: Estimate,
    /// Live blocks that were sampled.
    pub sampled: u64,
    /// Mean age of a live byte, in seconds; none if nothing is live.
    pub age: Option<f64>,
}

/// A place in the program that allocated what is live, or changed in the window.
#[derive(Clone, Debug, Serialize)]
pub struct LiveSite {
    /// What filters call it.
    pub key: Option<String>,
    /// What it is shown as.
    pub name: String,
    /// The source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From 1; 0 if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its figures.
    #[serde(flatten)]
    pub figures: LiveFigures,
    /// What part of all live bytes is its own, from 0 to 1.
    pub share: f64,
}

/// The moment and the beginning of the window.
#[derive(Clone, Copy)]
struct Window {
    from: Elapsed,
    to: Elapsed,
    /// When what is never collected is freed.
    freed: Option<Elapsed>,
}

/// Sums of samples of a place.
#[derive(Clone, Copy, Default)]
struct Tally {
    live: Sum,
    /// Live, and allocated in the window.
    gained: Sum,
    /// Freed in the window, and allocated before.
    lost: Sum,
    allocated: Sum,
    freed: Sum,
    promoted: Sum,
    total: Sum,
    /// Samples times age, in microseconds.
    age: u128,
}

impl Tally {
    fn add(&mut self, profile: &Profile, block: Row, window: Window) {
        let (estimator, blocks) = (&profile.estimator, &profile.blocks);
        let allocated = blocks.allocated(block);
        let collected = blocks.collected(block).or(window.freed);
        let add = |sum: &mut Sum| estimator.add_row(sum, blocks, block);
        if allocated > window.to {
            return;
        }
        add(&mut self.total);
        let in_window = |time: Elapsed| time > window.from && time <= window.to;
        let is_new = in_window(allocated);
        if is_new {
            add(&mut self.allocated);
        }
        if blocks.promoted(block).is_some_and(in_window) {
            add(&mut self.promoted);
        }
        match collected.filter(|time| *time <= window.to) {
            None => {
                add(&mut self.live);
                let age = window.to.since(allocated).0;
                self.age += u128::from(blocks.samples(block)) * u128::from(age);
                if is_new {
                    add(&mut self.gained);
                }
            }
            Some(time) if in_window(time) => {
                add(&mut self.freed);
                if !is_new {
                    add(&mut self.lost);
                }
            }
            Some(_) => {}
        }
    }

    fn merge(&mut self, other: &Self) {
        let Self { live, gained, lost, allocated, freed, promoted, total, age } = other;
        self.live.add(live);
        self.gained.add(gained);
        self.lost.add(lost);
        self.allocated.add(allocated);
        self.freed.add(freed);
        self.promoted.add(promoted);
        self.total.add(total);
        self.age += age;
    }

    /// By how many samples there is more than at the window's beginning.
    fn change(&self) -> i128 {
        i128::from(self.gained.samples) - i128::from(self.lost.samples)
    }

    /// Whether there is anything to show.
    const fn is_shown(&self) -> bool {
        self.live.recorded > 0 || self.allocated.recorded > 0 || self.freed.recorded > 0
    }

    fn figures(&self, profile: &Profile) -> LiveFigures {
        let estimator = &profile.estimator;
        let mut both = self.gained;
        both.add(&self.lost);
        let gained = estimator.bytes(&self.gained).value;
        let lost = estimator.bytes(&self.lost).value;
        // What came and what went were drawn apart from each other, so that their variances add up.
        let stderr = estimator.bytes(&both).stderr;
        let samples = self.live.samples;
        LiveFigures {
            live: estimator.bytes(&self.live),
            change: Estimate { value: gained - lost, stderr },
            allocated: estimator.bytes(&self.allocated),
            freed: estimator.bytes(&self.freed),
            blocks: estimator.blocks(&self.live),
            sampled: self.live.recorded,
            age: (samples > 0).then(|| self.age as f64 / samples as f64 / 1e6),
        }
    }
}

/// What is live at a moment, by place.
pub(crate) fn live_sites(recording: &Recording, query: &LiveSitesQuery) -> LiveSites {
    let profile = recording.profile();
    let asked = query.at.filter(|at| at.is_finite() && *at > 0.0).unwrap_or(0.0);
    let to = profile.end.max(Elapsed((asked * 1e6) as u64));
    let width = if query.window.is_finite() { query.window.max(0.0) } else { 0.0 };
    let width = Elapsed((width * 1e6) as u64);
    // No block is freed before the last event.
    let freed = query.freed.map(|freed| profile.end.max(Elapsed((freed * 1e6) as u64)));
    let window = Window { from: to.since(width), to, freed };
    let (labels, tallies) = by_place(recording, query.by, window);
    let mut all = Tally::default();
    for tally in &tallies {
        all.merge(tally);
    }
    let mut order: Vec<usize> =
        (0..tallies.len()).filter(|number| tallies[*number].is_shown()).collect();
    order.sort_rows_by_key(|number| {
        let tally = &tallies[*number];
        (Reverse(tally.change()), Reverse(tally.live.samples), *number)
    });
    let count = order.len();
    let order = most(order, &tallies);
    let live = all.live.samples.max(1) as f64;
    let rows = order.into_iter().map(|number| {
        let name = labels[number].map(|label| row(&recording.entities, label));
        LiveSite {
            key: name.as_ref().map(|name| name.key.to_owned()),
            file: name.as_ref().and_then(|name| name.file.clone()),
            line: name.as_ref().and_then(|name| name.line),
            name: name.map_or_else(|| "(unknown)".to_owned(), |name| name.label),
            figures: tallies[number].figures(profile),
            share: tallies[number].live.samples as f64 / live,
        }
    });
    LiveSites {
        program: recording.program().to_owned(),
        state: recording.description.state,
        outcome: recording.description.outcome.clone(),
        at: to.seconds(),
        window: to.since(window.from).seconds(),
        promoted: profile.estimator.bytes(&all.promoted),
        total: profile.estimator.bytes(&all.total),
        rows: rows.collect(),
        all: all.figures(profile),
        count,
        caveats: recording.caveats(),
    }
}

/// The places with their sums.
fn by_place(recording: &Recording, by: By, window: Window) -> (Vec<Option<Label>>, Vec<Tally>) {
    let profile = recording.profile();
    let mut numbers: HashMap<(Option<Label>, Option<Site>), usize> = HashMap::new();
    let mut of_stack: HashMap<StackId, usize> = HashMap::new();
    let (mut labels, mut tallies) = (Vec::new(), Vec::new());
    for block in profile.blocks.rows() {
        let number = *of_stack.entry(profile.blocks.stack(block)).or_insert_with(|| {
            let site = allocating_site(recording, block);
            let label = site.and_then(|site| label(recording, by, site));
            // A row shows no column: what a line allocates is one row.
            let place = match (by, site) {
                (By::Site, Some(site)) => (None, Some(site.line())),
                _ => (label, None),
            };
            *numbers.entry(place).or_insert_with(|| {
                labels.push(label);
                tallies.push(Tally::default());
                labels.len() - 1
            })
        });
        tallies[number].add(profile, block, window);
    }
    (labels, tallies)
}

/// Of very many places those that have most, as well as those that changed most, in the same order.
fn most(order: Vec<usize>, tallies: &[Tally]) -> Vec<usize> {
    if order.len() <= MAX_ROWS {
        return order;
    }
    let mut weights: Vec<(u128, usize)> = order
        .iter()
        .map(|number| {
            let tally = &tallies[*number];
            let samples = tally.live.samples.max(tally.allocated.samples);
            (u128::from(samples).max(tally.change().unsigned_abs()), *number)
        })
        .collect();
    weights.sort_rows_by_key(|weight| Reverse(*weight));
    weights.truncate(MAX_ROWS);
    let kept: std::collections::HashSet<usize> =
        weights.into_iter().map(|(_, number)| number).collect();
    order.into_iter().filter(|number| kept.contains(number)).collect()
}
