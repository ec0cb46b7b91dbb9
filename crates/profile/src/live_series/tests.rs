use memtrail_trace::{BlockId, DomainId, StackId, Timestamp, Words};
use proptest::prelude::*;

use super::*;
use crate::blocks::Block;
use crate::build::{Built, ProfileBuilder};
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
        let every: Vec<u64> = (0..=end.0).map(|t| live(&blocks, Elapsed(t))).collect();
        let most = every.iter().copied().max().unwrap_or(0);
        let first = every.iter().position(|&live| live == most).unwrap_or(0);
        prop_assert_eq!(
            live_series.peak(),
            Peak { time: Elapsed(first as u64), samples: most }
        );

        let mut from = 0;
        let stretches = live_series.evenly(end, count);
        prop_assert_eq!(stretches.len(), count);
        for point in &stretches {
            let kinds = point.minor + point.major + point.external;
            prop_assert_eq!(kinds, live(&blocks, point.time));
            // The stretch, with the moment before it.
            let stretch = &every[from..=point.time.0.min(end.0) as usize];
            prop_assert_eq!(point.most, stretch.iter().copied().max().unwrap_or(0));
            from = point.time.0 as usize;
        }
        prop_assert_eq!(stretches.last().map(|point| point.time), Some(end));

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
    let (_, live_series, end) = build(&[(0, Some(10), Some(10), 5, 0), (0, None, None, 1, 2)]);
    let points = live_series.evenly(end, 3);
    let kinds: Vec<_> = points.iter().map(|p| (p.minor, p.major, p.external)).collect();
    assert_eq!(kinds, [(5, 0, 1), (0, 5, 1), (0, 0, 1)]);
}

#[test]
fn buckets_of_a_long_time_are_shared_out_evenly() {
    let specs: Vec<Spec> =
        (0..1_000).map(|n| (n * 1_000, None, Some(50_000), 1 + n % 7, 1)).collect();
    let (blocks, live_series, end) = build(&specs);
    assert!(live_series.width() > Elapsed(1));
    let points = live_series.evenly(end, 70);
    let mut before = 0;
    for (index, point) in (1..).zip(&points) {
        let exact = end.0 * index / 70;
        assert!(point.time.0.abs_diff(exact) <= live_series.width().0, "{index}: {:?}", point.time);
        assert_eq!(point.major, live(&blocks, point.time));
        let most = (before..=point.time.0).step_by(100).map(|t| live(&blocks, Elapsed(t))).max();
        assert!(point.most >= most.unwrap_or(0));
        before = point.time.0;
    }
}
