//! One part of the rows, and what all parts add up to.

use std::ops::Range;

use memtrail_trace::Words;

use super::cells::{Cells, Scale, Whole};
use crate::density::{Density, Grid};
use crate::estimate::{Estimator, Sum, excess};
use crate::filter::Resolved;
use crate::filter::rows::{CHUNK, Chunk, lifetime};
use crate::profile::Profile;
use crate::time::NEVER;

/// Figures of the blocks that a filter keeps.
#[derive(Clone, Debug)]
pub struct Selected {
    /// All of them together.
    pub sum: Sum,
    /// Samples in blocks that were never collected.
    pub live_end: u64,
    /// Σ samples · lifetime, in sample-microseconds.
    pub age: f64,
    /// Sums by place in a call tree.
    pub cells: Cells,
    /// Live samples at the end of each bucket of the profile's [`course`](Profile::live_series).
    pub live_series: Vec<u64>,
    /// Samples that came in each bucket.
    pub(super) births: Vec<u64>,
    /// When they were allocated, and how long they lived.
    pub density: Density,
}

impl Selected {
    /// Bytes that this occupies.
    pub fn memory(&self) -> usize {
        let density = self.density.samples.len() + self.density.never.len();
        self.cells.memory()
            + (self.live_series.len() + self.births.len() + density) * size_of::<u64>()
            + size_of::<Self>()
    }
}

/// What all parts need to know.
pub(super) struct Pass<'a> {
    pub(super) profile: &'a Profile,
    pub(super) filter: &'a Resolved,
    pub(super) leaf_of_stack: &'a [u32],
    pub(super) nodes: usize,
    pub(super) grid: Grid,
    pub(super) scale: Scale,
    /// What each block of few words stands for, scaled.
    pub(super) weights: Vec<u64>,
}

/// What a part of the rows adds up to.
pub(super) struct Part {
    /// Blocks of few words, headers included, by their number.
    small: Vec<u64>,
    /// Larger ones, by chunk: these are no whole numbers, so the order in which they are added up
    /// matters.
    large: Vec<Sum>,
    /// By node.
    own: Vec<Whole>,
    /// Samples that came and that went, by bucket.
    changes: Vec<[u64; 2]>,
    density: Density,
}

/// How many parts are gone through at the same time. Each has a column of all nodes of its own,
/// so there are not many.
pub(super) fn parts() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads().min(4);
    #[cfg(not(feature = "parallel"))]
    1
}

#[cfg(feature = "parallel")]
fn both<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    rayon::join(a, b)
}

#[cfg(not(feature = "parallel"))]
fn both<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

impl Pass<'_> {
    /// Goes through some rows, in so many parts.
    pub(super) fn run(&self, rows: Range<usize>, parts: usize) -> Part {
        // Below this, dividing costs more than it saves.
        if parts < 2 || rows.len() < 64 * CHUNK {
            return self.go(rows);
        }
        let left = parts / 2;
        // Parts are made of whole chunks, of which some sums are made first.
        let middle = rows.start + (rows.len() * left / parts).next_multiple_of(CHUNK);
        let (mut part, other) = both(
            || self.run(rows.start..middle, left),
            || self.run(middle..rows.end, parts - left),
        );
        part.add(&other);
        part
    }

    fn go(&self, rows: Range<usize>) -> Part {
        let Self { profile, filter, leaf_of_stack, grid, scale, .. } = self;
        let (blocks, estimator) = (&profile.blocks, &profile.estimator);
        let end = profile.end.0;
        let mut part = Part::empty(self);
        let mut chunk = Chunk::new();
        for first in rows.clone().step_by(CHUNK) {
            let columns = blocks.columns(first..(first + CHUNK).min(rows.end));
            chunk.fill(filter, profile, &columns);
            let mut sum = Sum::default();
            for at in chunk.kept() {
                let (born, died) = (chunk.born[at], chunk.died[at]);
                let (samples, length) = (columns.samples(at), columns.length(at));
                let source = columns.sources[at];
                let words = Estimator::words(length, source).0;
                let words = usize::try_from(words).unwrap_or(usize::MAX);
                let halvings = columns.halvings(at);
                let weight = match (part.small.get_mut(words), self.weights.get(words)) {
                    (Some(count), Some(&weight)) if halvings == 0 => {
                        *count += 1;
                        weight
                    }
                    _ => scale.blocks(estimator.add(&mut sum, length, source, samples, halvings)),
                };
                let lived = lifetime(born, died, end);

                let live_series = &profile.live_series;
                part.changes[live_series.bucket_of(born)][0] += samples;
                let live = if died == NEVER {
                    part.density.never[grid.time(born)] += samples;
                    samples
                } else {
                    part.changes[live_series.bucket_of(died)][1] += samples;
                    part.density.samples[grid.cell(born, lived)] += samples;
                    0
                };
                let node = leaf_of_stack.get(columns.stacks[at].0 as usize).copied().unwrap_or(0);
                let node = if (node as usize) < part.own.len() { node as usize } else { 0 };
                part.own[node].add(&Whole {
                    samples,
                    excess: excess(samples, halvings),
                    live,
                    blocks: weight,
                    age: scale.age(samples, lived),
                });
            }
            part.large.push(sum);
        }
        part
    }
}

impl Part {
    fn empty(pass: &Pass<'_>) -> Self {
        Self {
            small: vec![0; pass.weights.len()],
            large: Vec::new(),
            own: vec![Whole::default(); pass.nodes],
            changes: vec![[0; 2]; pass.profile.live_series.buckets()],
            density: pass.grid.empty(),
        }
    }

    fn add(&mut self, other: &Self) {
        for (count, other) in self.small.iter_mut().zip(&other.small) {
            *count += other;
        }
        self.large.extend_from_slice(&other.large);
        for (own, other) in self.own.iter_mut().zip(&other.own) {
            own.add(other);
        }
        for (change, other) in self.changes.iter_mut().zip(&other.changes) {
            change[0] += other[0];
            change[1] += other[1];
        }
        for (samples, other) in self.density.samples.iter_mut().zip(&other.density.samples) {
            *samples += other;
        }
        for (never, other) in self.density.never.iter_mut().zip(&other.density.never) {
            *never += other;
        }
    }

    pub(super) fn finish(self, pass: &Pass<'_>) -> Selected {
        let mut sum = Sum::default();
        self.large.iter().for_each(|large| sum.add(large));
        for (words, &count) in (0..).map(Words).zip(&self.small) {
            pass.profile.estimator.add_alike(&mut sum, words, count);
        }
        let mut live = 0;
        let live_series = self.changes.iter().map(|[came, went]| {
            live = live + came - went;
            live
        });
        let live_series = live_series.collect();
        let cells = Cells::new(pass.scale, self.own);
        let all = cells.all();
        sum.samples = all.samples;
        Selected {
            sum,
            live_end: all.live,
            age: all.age,
            cells,
            live_series,
            births: self.changes.iter().map(|&[came, _]| came).collect(),
            density: self.density,
        }
    }
}
