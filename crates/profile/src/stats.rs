//! A trace in a few figures, without its backtraces.

use memtrail_trace::rates::RateChanges;
use memtrail_trace::{Event, SampleRate, Source, Timestamp, Words};
use rustc_hash::FxHashMap;

use crate::estimate::{Adapted, AdaptedSum};

/// Sums over all events. Samples, unless it says blocks; each stands for `1 / sample rate` words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Blocks allocated.
    pub blocks: u64,
    /// Blocks that moved to the major heap.
    pub promoted_blocks: u64,
    /// Blocks found dead.
    pub collected_blocks: u64,
    /// Allocated in the minor heap.
    pub minor: u64,
    /// Allocated in the major heap directly.
    pub major: u64,
    /// Allocated outside the OCaml heap.
    pub external: u64,
    /// Moved from the minor heap to the major heap.
    pub promoted: u64,
    /// Found dead in the minor heap.
    pub minor_collected: u64,
    /// Found dead in the major heap, or outside.
    pub major_collected: u64,
    /// In blocks of at most 4, 16 and 256 words.
    pub small: [u64; 3],
    /// The largest block sampled.
    pub largest: Words,
    /// Time of the last event in the file.
    pub last: Timestamp,
    /// Domains that allocated.
    pub domains: u64,
    rates: AdaptedSum,
}

/// Bounds of [`Stats::small`], in words.
pub const SMALL: [u64; 3] = [4, 16, 256];

impl Stats {
    /// Allocated, wherever.
    pub fn allocated(&self) -> u64 {
        self.minor + self.major + self.external
    }

    /// How far the rate was lowered below the trace's, if it was.
    pub fn adapted(&self, rate: SampleRate) -> Option<Adapted> {
        self.rates.finish(rate)
    }

    /// Not found dead by the end of the trace.
    pub fn live(&self) -> u64 {
        let dead = self.minor_collected.saturating_add(self.major_collected);
        self.allocated().saturating_sub(dead)
    }
}

/// Sums up events.
#[derive(Debug, Default)]
pub struct StatsBuilder {
    stats: Stats,
    /// Blocks that live in the minor heap.
    young: FxHashMap<u64, u64>,
    /// Other live blocks, if they have more than one sample, as few have.
    old: FxHashMap<u64, u64>,
    domains: Vec<bool>,
    rates: RateChanges,
}

impl StatsBuilder {
    /// At which rate the blocks to come were sampled.
    pub fn rates(&mut self, changes: RateChanges) {
        self.rates = changes;
    }

    /// Counts one event.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>) {
        let stats = &mut self.stats;
        match *event {
            Event::Alloc(a) => {
                // The sum of all holds, so every other one does.
                let samples = a.samples.min(u64::MAX - stats.allocated());
                stats.last = a.time;
                stats.blocks += 1;
                if !self.rates.is_empty() {
                    stats.rates.add(samples, self.rates.halvings(a.domain, a.id));
                }
                match a.source {
                    Source::Minor => stats.minor += samples,
                    Source::Major => stats.major += samples,
                    Source::External => stats.external += samples,
                }
                if a.source == Source::Minor {
                    self.young.insert(a.id.0, samples);
                } else if samples > 1 {
                    self.old.insert(a.id.0, samples);
                }
                for (sum, bound) in stats.small.iter_mut().zip(SMALL) {
                    if a.length.0 <= bound {
                        *sum += samples;
                    }
                }
                stats.largest = stats.largest.max(a.length);
                let domain = usize::from(a.domain.0);
                if domain >= self.domains.len() {
                    self.domains.resize(domain + 1, false);
                }
                if let Some(seen) = self.domains.get_mut(domain) {
                    *seen = true;
                }
            }
            Event::Promote(mark) => {
                stats.last = mark.time;
                stats.promoted_blocks += 1;
                if let Some(samples) = self.young.remove(&mark.id.0) {
                    stats.promoted += samples;
                    if samples > 1 {
                        self.old.insert(mark.id.0, samples);
                    }
                }
            }
            Event::Collect(mark) => {
                stats.last = mark.time;
                stats.collected_blocks += 1;
                if let Some(samples) = self.young.remove(&mark.id.0) {
                    stats.minor_collected += samples;
                } else {
                    let samples = self.old.remove(&mark.id.0).unwrap_or(1);
                    stats.major_collected = stats.major_collected.saturating_add(samples);
                }
            }
        }
    }

    /// The sums.
    pub fn finish(mut self) -> Stats {
        self.stats.domains = self.domains.iter().filter(|&&seen| seen).count() as u64;
        self.stats
    }
}
