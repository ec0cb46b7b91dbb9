//! Live memory over time, kept up while a trace is read.
//!
//! Time is cut into buckets of a power of two of microseconds. When there would be too many, each
//! two become one, so that there are always enough to draw from and few enough to go through.
//! What was live at the end of a bucket needs no order: changes are noted in their bucket and
//! summed up when asked for. The most that was live within a bucket does. Events that come in the
//! order of time, as those of one domain do, are followed as they come; where some come late, the
//! buckets from the first of them on are gone through again.
//!
//! All that happens in one microsecond counts as one step, so the peak's size is that of the
//! blocks that are live at the peak's time.

use memtrail_trace::Source;

use crate::blocks::Blocks;
use crate::time::Elapsed;

/// The most buckets.
const BUCKETS: usize = 1 << 14;

/// The first time at which most was live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// When.
    pub time: Elapsed,
    /// Samples in the blocks live then.
    pub samples: u64,
}

/// Live memory at the end of a stretch of time, in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// The end of the stretch, inclusive.
    pub time: Elapsed,
    /// In the minor heap.
    pub minor: u64,
    /// In the major heap.
    pub major: u64,
    /// Outside the OCaml heap.
    pub external: u64,
    /// The most that was live at any time in the stretch, its beginning included.
    pub most: u64,
}

/// Live memory over time.
#[derive(Clone, Debug, Default)]
pub struct LiveSeries {
    /// A bucket takes `1 << shift` microseconds.
    shift: u32,
    /// Samples that came or went in each bucket, by [`Source`].
    changes: Vec<[i64; 3]>,
    /// The most that was live after a step in each bucket, and when first.
    tops: Vec<Peak>,
    samples: u64,
    /// The step that is going on, and what is live in it.
    now: Elapsed,
    live: i64,
    /// Whether that step has been noted, as if it were over.
    noted: bool,
    /// The earliest event that came after a later one.
    late: Option<Elapsed>,
}

impl LiveSeries {
    /// How long a bucket takes.
    pub fn width(&self) -> Elapsed {
        Elapsed(1 << self.shift)
    }

    /// How many buckets there are.
    pub fn buckets(&self) -> usize {
        self.changes.len()
    }

    /// The bucket of a time.
    pub fn bucket(&self, time: Elapsed) -> usize {
        self.bucket_of(time.0)
    }

    /// The bucket of a time in microseconds.
    #[inline]
    pub(crate) fn bucket_of(&self, time: u64) -> usize {
        (time >> self.shift) as usize
    }

    /// Samples in all blocks, live or not.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The first time at which most was live.
    pub fn peak(&self) -> Peak {
        highest(&self.tops)
    }

    /// At most `count` points (at least one) over the whole time.
    pub fn points(&self, count: usize) -> Vec<Point> {
        self.between(Elapsed(0), Elapsed::LAST, count)
    }

    /// At most `count` points (at least one) over a part of the time. Each stands for a power of
    /// two of buckets, those at the borders included; the last one ends where the last event is.
    pub fn between(&self, from: Elapsed, to: Elapsed, count: usize) -> Vec<Point> {
        let buckets = self.buckets();
        if buckets == 0 || from > to {
            return Vec::new();
        }
        let (first, last) = (self.bucket(from), self.bucket(to).min(buckets - 1));
        let mut shift = 0;
        while first <= last && (last >> shift) - (first >> shift) >= count.max(1) {
            shift += 1;
        }
        let ends = (0..=last >> shift).map(|group| (group + 1) << shift);
        self.stretches(ends, self.now).skip(first >> shift).collect()
    }

    /// `count` points (at least one) over the time from 0 to `end`. Their stretches are equally long,
    /// to within a bucket.
    pub fn evenly(&self, end: Elapsed, count: usize) -> Vec<Point> {
        let (span, count) = (u128::from(end.0) + 1, count.max(1) as u128);
        let ends = (1..=count).map(|stretch| {
            let after = (stretch * span).div_ceil(count);
            after.div_ceil(1 << self.shift) as usize
        });
        self.stretches(ends, end).collect()
    }

    /// A point for each stretch of buckets, of which `ends` are those behind; none is after `end`.
    fn stretches(
        &self,
        ends: impl Iterator<Item = usize>,
        end: Elapsed,
    ) -> impl Iterator<Item = Point> {
        let (mut live, mut from) = ([0_i64; 3], 0);
        ends.map(move |behind| {
            let before: i64 = live.iter().sum();
            let to = behind.min(self.buckets());
            for change in &self.changes[from..to] {
                for (live, change) in live.iter_mut().zip(change) {
                    *live += change;
                }
            }
            let [minor, major, external] = live.map(|live| live.max(0) as u64);
            let most = highest(&self.tops[from..to]).samples.max(before.max(0) as u64);
            from = to;
            let time = Elapsed(((behind as u64) << self.shift) - 1).min(end);
            Point { time, minor, major, external, most }
        })
    }

    /// What of `live`, one number a bucket, belongs to each of some points.
    pub fn at(&self, live: &[u64], points: &[Point]) -> Vec<u64> {
        let at = |point: &Point| live.get(self.bucket(point.time)).copied().unwrap_or(0);
        points.iter().map(at).collect()
    }

    pub(crate) fn allocated(&mut self, time: Elapsed, samples: u64, source: Source) {
        let bucket = self.step(time);
        self.changes[bucket][source as usize] += samples as i64;
        self.live += samples as i64;
        self.samples += samples;
    }

    pub(crate) fn promoted(&mut self, time: Elapsed, samples: u64, source: Source) {
        let bucket = self.step(time);
        if source == Source::Minor {
            self.changes[bucket][Source::Minor as usize] -= samples as i64;
            self.changes[bucket][Source::Major as usize] += samples as i64;
        }
    }

    /// Collected in the heap that `source` allocates in.
    pub(crate) fn collected(&mut self, time: Elapsed, samples: u64, source: Source) {
        let bucket = self.step(time);
        self.changes[bucket][source as usize] -= samples as i64;
        self.live -= samples as i64;
    }

    fn step(&mut self, time: Elapsed) -> usize {
        let time = time.min(Elapsed::LAST);
        if time > self.now {
            self.note();
            self.now = time;
            self.noted = false;
        } else if time < self.now || self.noted {
            self.late = Some(self.late.map_or(time, |late| late.min(time)));
        }
        while self.bucket(time) >= BUCKETS {
            self.halve();
        }
        let bucket = self.bucket(time);
        if bucket >= self.changes.len() {
            self.changes.resize(bucket + 1, [0; 3]);
            self.tops.resize(bucket + 1, Peak::default());
        }
        bucket
    }

    /// Notes what is live at the end of a step.
    fn note(&mut self) {
        let samples = self.live.max(0) as u64;
        let bucket = self.bucket(self.now);
        if let Some(top) = self.tops.get_mut(bucket)
            && samples > top.samples
        {
            *top = Peak { time: self.now, samples };
        }
    }

    fn halve(&mut self) {
        self.shift += 1;
        let pairs = self.changes.len().div_ceil(2);
        for pair in 0..pairs {
            let both = 2 * pair..(2 * pair + 2).min(self.changes.len());
            let mut change = [0; 3];
            for other in &self.changes[both.clone()] {
                for (sum, change) in change.iter_mut().zip(other) {
                    *sum += change;
                }
            }
            self.tops[pair] = highest(&self.tops[both]);
            self.changes[pair] = change;
        }
        self.changes.truncate(pairs);
        self.tops.truncate(pairs);
    }

    /// Makes up for events that came late. The blocks must be in order.
    pub(crate) fn settle(&mut self, blocks: &Blocks) {
        if let Some(late) = self.late.take() {
            let end = self.now;
            self.follow(blocks, self.bucket(late));
            self.now = end;
        }
        self.note();
        self.noted = true;
    }

    /// Goes through all that happened from a bucket on.
    fn follow(&mut self, blocks: &Blocks, bucket: usize) {
        self.tops[bucket..].fill(Peak::default());
        self.live = self.changes[..bucket].iter().flatten().sum();
        let start = Elapsed((bucket as u64) << self.shift);
        self.now = start;
        let mut births = blocks.allocated_from(start).peekable();
        let mut ends = blocks.collected_from(start).iter().copied().peekable();
        loop {
            let birth = births.peek().map(|&row| blocks.allocated(row));
            let end = ends.peek().and_then(|&row| blocks.collected(row));
            let Some(next) = birth.into_iter().chain(end).min() else { break };
            self.now = next;
            while let Some(row) = births.next_if(|&row| blocks.allocated(row) == next) {
                self.live += blocks.samples(row) as i64;
            }
            while let Some(row) = ends.next_if(|&row| blocks.collected(row) == Some(next)) {
                self.live -= blocks.samples(row) as i64;
            }
            self.note();
        }
    }
}

/// The first of the highest.
fn highest(tops: &[Peak]) -> Peak {
    let mut highest = Peak::default();
    for &top in tops {
        if top.samples > highest.samples {
            highest = top;
        }
    }
    highest
}

#[cfg(test)]
mod tests;
