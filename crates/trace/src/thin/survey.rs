//! The first pass: who died, and how many blocks of each age and rate there are.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::dead::Dead;
use super::history::History;
use crate::rates::{MAX_HALVINGS, RateChanges};
use crate::read::{Alloc, Detail, Event, Mark};
use crate::units::{BlockId, Bytes, Timestamp};

/// The facts that thinning needs beside the trace.
#[derive(Clone, Debug)]
pub struct Thinning<'a> {
    /// Rates at which blocks were sampled, by a list beside the trace.
    pub rates: &'a RateChanges,
    /// First blocks of the threads' stretches, by domain; ascending.
    pub stretches: &'a BTreeMap<u16, Vec<u64>>,
    /// Moments of the heap snapshots that name blocks; ascending.
    pub moments: &'a [Timestamp],
    /// Largest size of the trace.
    pub bytes: Bytes,
    /// Decides which samples are kept. Each thinning of one trace needs another.
    pub seed: u64,
}

/// Rates that a block can have.
pub(super) const RATES: usize = MAX_HALVINGS as usize + 1;
/// Classes of ages in an octave.
pub(super) const PARTS: u32 = 4;
/// Classes of ages: 64 octaves of microseconds.
const AGES: usize = 64 * PARTS as usize;
/// Recorder and snapshot read their clocks one after the other. In microseconds; a process that is stopped in between is
/// not thought of: then its snapshot names blocks that the trace no longer has.
const CLOCKS: u64 = 100_000;

/// Blocks of one class of ages and one rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Class {
    pub(super) blocks: u64,
    /// Samples that were taken, whatever they stand for.
    pub(super) taken: u64,
}

/// Facts about the history, before anything is written.
#[derive(Clone, Debug)]
pub(super) struct Survey {
    /// Blocks that are thinned.
    pub(super) thinned: Dead,
    /// Blocks that another domain names in the file before they are allocated there.
    pub(super) early: FxHashSet<BlockId>,
    pub(super) blocks: u64,
    /// Blocks that are thinned, by age and rate.
    pub(super) dead: Vec<[Class; RATES]>,
}

/// A block while it is alive.
struct Living {
    number: u64,
    time: Timestamp,
    rate: Rate,
}

impl Survey {
    pub(super) fn of(history: &History<'_>, thinning: &Thinning<'_>) -> Self {
        let mut survey = Self {
            thinned: Dead::default(),
            early: FxHashSet::default(),
            blocks: 0,
            dead: vec![[Class::default(); RATES]; AGES],
        };
        let mut living = FxHashMap::default();
        // Marks of blocks that are yet to come, and when these end.
        let mut early: FxHashMap<BlockId, Option<Timestamp>> = FxHashMap::default();
        let done = history.events::<std::convert::Infallible>(Detail::Marks, |event, _| {
            match event {
                Event::Alloc(alloc) => {
                    let rate = Rate::of(&alloc, thinning);
                    let block = Living { number: survey.blocks, time: alloc.time, rate };
                    survey.blocks += 1;
                    let known = early.remove(&alloc.id);
                    if known.is_some() {
                        survey.early.insert(alloc.id);
                    }
                    match known.flatten() {
                        Some(end) => survey.dies(history, thinning, &block, end),
                        None => drop(living.insert(alloc.id, block)),
                    }
                }
                Event::Promote(Mark { id, .. }) => {
                    if !living.contains_key(&id) {
                        early.entry(id).or_insert(None);
                    }
                }
                Event::Collect(Mark { id, time, .. }) => match living.remove(&id) {
                    Some(block) => survey.dies(history, thinning, &block, time),
                    None => drop(early.insert(id, Some(time))),
                },
            }
            Ok(())
        });
        match done {
            Ok(()) => survey,
            Err(never) => match never {},
        }
    }

    fn dies(
        &mut self,
        history: &History<'_>,
        thinning: &Thinning<'_>,
        block: &Living,
        end: Timestamp,
    ) {
        let from = block.time.0.saturating_sub(CLOCKS);
        let to = end.0.saturating_add(CLOCKS);
        let next = thinning.moments.partition_point(|moment| moment.0 < from);
        if thinning.moments.get(next).is_some_and(|moment| moment.0 <= to) {
            return;
        }
        self.thinned.insert(block.number);
        let class = age_class(history.age(block.time));
        let class = self
            .dead
            .get_mut(class)
            .and_then(|rates| rates.get_mut(usize::from(block.rate.halvings)));
        if let Some(class) = class {
            class.blocks += 1;
            class.taken = class.taken.saturating_add(block.rate.taken);
        }
    }

    /// Blocks that are not thinned.
    pub(super) fn others(&self) -> u64 {
        self.blocks - self.dead.iter().flatten().map(|class| class.blocks).sum::<u64>()
    }
}

/// The class of an age in microseconds.
fn age_class(age: u64) -> usize {
    ((age.max(1) as f64).log2() * f64::from(PARTS)) as usize
}

/// The rate and the samples of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    /// Number of times that the trace's rate was halved for it.
    pub(super) halvings: u8,
    /// Samples that were taken.
    pub(super) taken: u64,
}

impl Rate {
    pub(super) fn of(alloc: &Alloc<'_>, thinning: &Thinning<'_>) -> Self {
        // A damaged list is believed as far as it can be.
        let most = alloc.samples.trailing_zeros().min(u32::from(MAX_HALVINGS)) as u8;
        let halvings = thinning.rates.of(alloc).min(most);
        Self { halvings, taken: alloc.samples >> halvings }
    }
}
