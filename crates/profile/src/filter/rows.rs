//! A filter asked of rows: some at a time, one condition after the other, so that each is a tight
//! loop over a column or two.

use memtrail_trace::Source;

use super::condition::{Died, Heap};
use super::resolve::{Heaps, Kind, Resolved, ResolvedCondition, died, within};
use crate::blocks::{Columns, Row};
use crate::estimate::Estimator;
use crate::profile::Profile;
use crate::time::{Elapsed, NEVER};

/// Rows of a chunk: what is worked out of them fits the fastest cache.
pub(crate) const CHUNK: usize = 1024;

/// A block that a filter keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The block.
    pub row: Row,
    /// When it began to count: its allocation, or promotion if only the major heap is watched.
    pub born: Elapsed,
    /// When it ceased to: its collection, or promotion if the major heap is not watched.
    pub died: Option<Elapsed>,
}

/// Which of some rows are kept, and when they count.
pub(crate) struct Chunk {
    pub(crate) born: [u64; CHUNK],
    /// [`NEVER`] if it did not.
    pub(crate) died: [u64; CHUNK],
    keep: [bool; CHUNK],
    kept: [u16; CHUNK],
    len: usize,
}

impl Chunk {
    pub(crate) fn new() -> Box<Self> {
        Box::new(Self {
            born: [0; CHUNK],
            died: [0; CHUNK],
            keep: [false; CHUNK],
            kept: [0; CHUNK],
            len: 0,
        })
    }

    /// The rows that are kept, counted from the first of the chunk.
    pub(crate) fn kept(&self) -> impl Iterator<Item = usize> + '_ {
        self.kept[..self.len].iter().map(|&at| usize::from(at))
    }

    /// Asks about some rows, [`CHUNK`] at most.
    pub(crate) fn fill(&mut self, filter: &Resolved, profile: &Profile, rows: &Columns<'_>) {
        let len = rows.len();
        self.keep[..len].fill(true);
        rows.allocated.spread(&mut self.born);
        rows.collected.spread(&mut self.died);
        self.watch(filter.heaps, rows);
        if let Some(stacks) = &filter.stacks {
            for (keep, &stack) in self.keep.iter_mut().zip(rows.stacks) {
                *keep &= stacks.keeps(stack);
            }
        }
        for condition in &filter.conditions {
            self.condition(condition, filter, profile, rows);
        }
        self.len = 0;
        for (at, &keep) in self.keep[..len].iter().enumerate() {
            // Without a branch: which rows are kept cannot be foretold.
            self.kept[self.len] = at as u16;
            self.len += usize::from(keep);
        }
    }

    /// Cuts the time that blocks count down to that in the heaps that are watched.
    fn watch(&mut self, heaps: Heaps, rows: &Columns<'_>) {
        if heaps == (Heaps { minor: true, major: true, external: true }) {
            return;
        }
        for at in 0..rows.len() {
            self.keep[at] = match rows.sources[at] {
                Source::Major => heaps.major,
                Source::External => heaps.external,
                Source::Minor => {
                    let promoted = rows.promoted.at(at);
                    match (heaps.minor, heaps.major) {
                        (true, true) => true,
                        (true, false) => {
                            self.died[at] = self.died[at].min(promoted);
                            true
                        }
                        (false, true) => {
                            self.born[at] = promoted;
                            promoted != NEVER
                        }
                        (false, false) => false,
                    }
                }
            };
        }
    }

    fn condition(
        &mut self,
        condition: &ResolvedCondition,
        filter: &Resolved,
        profile: &Profile,
        rows: &Columns<'_>,
    ) {
        let not = condition.not;
        let end = filter.end.0;
        match &condition.kind {
            Kind::Allocated(ranges) => self.times(not, |born, _| within(ranges, born)),
            Kind::Live(ranges) => {
                let live = |&(after, until): &(Option<u64>, u64), born, died| {
                    born <= until && after.is_none_or(|after| died > after)
                };
                match ranges.as_slice() {
                    // One range is the rule.
                    [range] => self.times(not, |born, died| live(range, born, died)),
                    _ => self.times(not, |born, died| {
                        ranges.iter().any(|range| live(range, born, died))
                    }),
                }
            }
            Kind::Collected { never, within: ranges } => self.times(not, |_, died| {
                (*never && died == NEVER) || within(ranges, if died == NEVER { end } else { died })
            }),
            Kind::Lifetime(ranges) => {
                self.times(not, |born, died| within(ranges, lifetime(born, died, end)));
            }
            Kind::Size(ranges) => self.rows(not, rows, |at| {
                // As all sizes of blocks: the header counts.
                within(ranges, Estimator::words(rows.length(at), rows.sources[at]).0)
            }),
            Kind::Died(wanted) => self.rows(not, rows, |at| wanted[died(place(rows, at))]),
            Kind::Domain(domains) if rows.domains.is_empty() => {
                let only = profile.blocks.domain(Row(rows.first)).0;
                let wanted = domains.contains(&only);
                self.rows(not, rows, |_| wanted);
            }
            Kind::Domain(domains) => {
                self.rows(not, rows, |at| domains.contains(&rows.domains[at].0));
            }
            Kind::Thread(wanted) => {
                let threads = profile.threads.as_ref().map_or(&[][..], |threads| threads.of_rows());
                self.rows(not, rows, |at| {
                    let thread = threads.get(rows.first as usize + at);
                    thread.and_then(|&thread| wanted.get(usize::from(thread))) == Some(&true)
                });
            }
        }
    }

    fn times(&mut self, not: bool, holds: impl Fn(u64, u64) -> bool) {
        for (keep, (&born, &died)) in self.keep.iter_mut().zip(self.born.iter().zip(&self.died)) {
            *keep &= holds(born, died) != not;
        }
    }

    fn rows(&mut self, not: bool, rows: &Columns<'_>, holds: impl Fn(usize) -> bool) {
        for (at, keep) in self.keep.iter_mut().enumerate().take(rows.len()) {
            *keep = *keep && holds(at) != not;
        }
    }
}

/// How long a block counted, in microseconds, in a trace that ends at `end`.
#[inline]
pub(crate) fn lifetime(born: u64, died: u64, end: u64) -> u64 {
    (if died == NEVER { end } else { died }).saturating_sub(born)
}

/// Where a block was when it was collected, whatever is watched.
fn place(rows: &Columns<'_>, at: usize) -> Died {
    if rows.collected.at(at) == NEVER {
        return Died::Never;
    }
    Died::In(match rows.sources[at] {
        Source::Minor if rows.promoted.at(at) == NEVER => Heap::Minor,
        Source::Minor | Source::Major => Heap::Major,
        Source::External => Heap::External,
    })
}

impl Resolved {
    /// The blocks that are kept, in the order of the trace. The profile must be the one that the
    /// filter was resolved for.
    pub fn rows<'a>(&'a self, profile: &'a Profile) -> impl Iterator<Item = Kept> + 'a {
        let mut chunk = Chunk::new();
        let all = profile.blocks.len();
        (0..all).step_by(CHUNK).flat_map(move |first| {
            let rows = profile.blocks.columns(first..(first + CHUNK).min(all));
            chunk.fill(self, profile, &rows);
            let kept = |at: usize| Kept {
                row: Row((first + at) as u32),
                born: Elapsed(chunk.born[at]),
                died: (chunk.died[at] != NEVER).then_some(Elapsed(chunk.died[at])),
            };
            chunk.kept().map(kept).collect::<Vec<_>>()
        })
    }
}
