//! Live memory over time, and its peak.
//!
//! Events are taken in the order of time, whatever their order in the file. All that happens in
//! one microsecond counts as one step, so the peak's size is that of the blocks that are
//! [live at](crate::select::Selection::live_at) the peak's time.

use memtrail_trace::Source;

use crate::blocks::Blocks;
use crate::time::Elapsed;

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Stretches of equal length, to within a microsecond, from the trace's start to its end.
    pub points: Vec<Point>,
    /// The peak, exact.
    pub peak: Peak,
}

/// Equal stretches of the time from 0 to `end`, inclusive.
#[derive(Clone, Copy)]
struct Stretches {
    count: u64,
    /// Microseconds there are: those of `end + 1`.
    span: u128,
}

impl Stretches {
    fn of(self, time: Elapsed) -> usize {
        let index = u128::from(time.0) * u128::from(self.count) / self.span;
        index.min(u128::from(self.count - 1)) as usize
    }

    /// The last microsecond of a stretch.
    fn end(self, index: usize) -> Elapsed {
        let after = (index as u128 + 1) * self.span;
        Elapsed((after.div_ceil(u128::from(self.count)) - 1) as u64)
    }
}

impl Timeline {
    /// The timeline of a trace that ends at `end`, in `count` stretches (at least 1).
    pub fn new(blocks: &Blocks, end: Elapsed, count: usize) -> Self {
        let stretches = Stretches { count: count.max(1) as u64, span: u128::from(end.0) + 1 };
        let mut points = vec![Point::default(); count.max(1)];
        let peak = follow(blocks, stretches, &mut points);
        fill_kinds(blocks, stretches, &mut points);
        Self { points, peak }
    }
}

/// Goes through all events in order: finds the peak, and the most in each stretch.
fn follow(blocks: &Blocks, stretches: Stretches, points: &mut [Point]) -> Peak {
    let mut births = blocks.by_allocation().peekable();
    let mut ends = blocks.by_collection().iter().copied().peekable();
    let (mut live, mut peak, mut at) = (0_u64, Peak::default(), 0);
    loop {
        let birth = births.peek().map(|&row| blocks.allocated(row));
        let end = ends.peek().and_then(|&row| blocks.collected(row));
        let Some(now) = birth.into_iter().chain(end).min() else { break };
        let stretch = stretches.of(now);
        while at < stretch {
            at += 1;
            points[at].most = live;
        }
        while let Some(row) = births.next_if(|&row| blocks.allocated(row) == now) {
            live = live.saturating_add(blocks.samples(row));
        }
        while let Some(row) = ends.next_if(|&row| blocks.collected(row) == Some(now)) {
            live = live.saturating_sub(blocks.samples(row));
        }
        points[at].most = points[at].most.max(live);
        if live > peak.samples {
            peak = Peak { time: now, samples: live };
        }
    }
    for point in &mut points[at + 1..] {
        point.most = live;
    }
    peak
}

/// What there is of each kind at the end of each stretch. Needs no order: changes are noted in
/// their stretch and summed up.
fn fill_kinds(blocks: &Blocks, stretches: Stretches, points: &mut [Point]) {
    let mut changes = vec![[0_i128; 3]; points.len()];
    for row in blocks.rows() {
        let samples = i128::from(blocks.samples(row));
        let mut kind = blocks.source(row) as usize;
        changes[stretches.of(blocks.allocated(row))][kind] += samples;
        if let (Source::Minor, Some(time)) = (blocks.source(row), blocks.promoted(row)) {
            let change = &mut changes[stretches.of(time)];
            change[kind] -= samples;
            kind = Source::Major as usize;
            change[kind] += samples;
        }
        if let Some(time) = blocks.collected(row) {
            changes[stretches.of(time)][kind] -= samples;
        }
    }
    let mut live = [0_i128; 3];
    for (index, (point, change)) in points.iter_mut().zip(changes).enumerate() {
        for (live, change) in live.iter_mut().zip(change) {
            *live += change;
        }
        let [minor, major, external] = live.map(|live| u64::try_from(live).unwrap_or(0));
        *point = Point { time: stretches.end(index), minor, major, external, ..*point };
    }
}

#[cfg(test)]
mod tests {
    use memtrail_trace::{BlockId, DomainId, StackId, Timestamp, Words};
    use proptest::prelude::*;

    use super::*;
    use crate::blocks::Block;
    use crate::build::{Built, ProfileBuilder};
    use crate::live_series::LiveSeries;
    use crate::select::Selection;

    /// (allocated, until promoted, until collected, samples, source)
    type Spec = (u64, Option<u64>, Option<u64>, u64, u8);

    fn build(specs: &[Spec]) -> (Blocks, LiveSeries, Elapsed) {
        let mut builder = ProfileBuilder::new(Timestamp(0));
        for (id, &(time, promoted, collected, samples, source)) in specs.iter().enumerate() {
            let id = BlockId(id as u64);
            let source = [Source::Minor, Source::Major, Source::External][usize::from(source)];
            let time = Elapsed(time);
            let (length, stack, domain) = (Words(3), StackId::ROOT, DomainId(0));
            builder.alloc(id, &Block { time, length, samples, source, stack, domain });
            let promoted = promoted.map(|after| time + Elapsed(after));
            if let Some(time) = promoted {
                builder.promote(id, time);
            }
            if let Some(after) = collected {
                builder.collect(id, promoted.unwrap_or(time) + Elapsed(after));
            }
        }
        let Built { blocks, live_series, end, inconsistent, .. } = builder.finish();
        assert_eq!(inconsistent.total(), 0);
        (blocks, live_series, end)
    }

    fn live(blocks: &Blocks, time: Elapsed) -> u64 {
        Selection::live_at(time).rows(blocks).map(|row| blocks.samples(row)).sum()
    }

    proptest! {
        #[test]
        fn agrees_with_asking_at_every_microsecond(
            specs in prop::collection::vec(
                (0..40_u64, prop::option::of(0..9_u64), prop::option::of(0..20_u64), 1..9_u64, 0..3_u8),
                0..40,
            ),
            count in 1..30_usize,
        ) {
            let (blocks, live_series, end) = build(&specs);
            let timeline = Timeline::new(&blocks, end, count);

            let every: Vec<u64> = (0..=end.0).map(|t| live(&blocks, Elapsed(t))).collect();
            let most = every.iter().copied().max().unwrap_or(0);
            prop_assert_eq!(timeline.peak.samples, most);
            let first = every.iter().position(|&live| live == most).unwrap_or(0);
            prop_assert_eq!(timeline.peak.time, Elapsed(first as u64));

            let mut from = 0;
            for point in &timeline.points {
                let kinds = point.minor + point.major + point.external;
                prop_assert_eq!(kinds, live(&blocks, point.time));
                // The stretch, with the moment before it.
                let stretch = &every[from..=point.time.0.min(end.0) as usize];
                prop_assert_eq!(point.most, stretch.iter().copied().max().unwrap_or(0));
                from = point.time.0 as usize;
            }
            prop_assert_eq!(timeline.points.last().map(|point| point.time), Some(end));

            prop_assert_eq!(live_series.peak(), timeline.peak);
            let points = live_series.points(count);
            prop_assert!(points.len() <= count);
            let mut before = 0;
            for point in &points {
                let kinds = point.minor + point.major + point.external;
                prop_assert_eq!(kinds, every[point.time.0 as usize]);
                let stretch = &every[before..=point.time.0 as usize];
                prop_assert_eq!(point.most, stretch.iter().copied().max().unwrap_or(0));
                before = point.time.0 as usize;
            }
            let last = (!specs.is_empty()).then_some(end);
            prop_assert_eq!(points.last().map(|point| point.time), last);
        }
    }

    #[test]
    fn promotion_moves_between_the_heaps() {
        let (blocks, _, end) = build(&[(0, Some(10), Some(10), 5, 0), (0, None, None, 1, 2)]);
        let timeline = Timeline::new(&blocks, end, 3);
        let kinds: Vec<_> =
            timeline.points.iter().map(|p| (p.minor, p.major, p.external)).collect();
        assert_eq!(kinds, [(5, 0, 1), (0, 5, 1), (0, 0, 1)]);
    }
}
