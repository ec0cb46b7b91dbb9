//! What is live at a moment and changed before, against sums over all blocks, one by one.

use std::collections::BTreeMap;

use memtrail_engine::heap::Outcome;
use memtrail_engine::query::By;
use memtrail_engine::{Description, Engine, LiveSites, LiveSitesQuery, Setting};
use memtrail_test_support::traces::{Spec, write};
use memtrail_trace::Source;

use crate::queries::heap::{heap, with_snapshots};

/// Pseudo-random numbers, always the same.
fn numbers() -> impl FnMut(u64) -> u64 {
    let mut state = 12_345_u64;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// Blocks of five sites within ten seconds.
fn blocks() -> Vec<Spec> {
    let mut next = numbers();
    let mut blocks: Vec<Spec> = (0..500)
        .map(|_| {
            let allocated = next(10_000_000);
            let dies = next(3) > 0;
            let lifetime = next(4_000_000);
            Spec {
                allocated,
                promoted: (next(2) == 0).then(|| allocated + lifetime / 2),
                collected: dies.then_some(allocated + lifetime),
                length: 100,
                samples: 1 + next(5),
                source: Source::Minor,
                domain: 0,
                // A call in the main program; 0 is no code.
                stack: vec![9, 1 + next(5)],
            }
        })
        .collect();
    blocks.sort_by_key(|block| block.allocated);
    blocks
}

const NAMES: [&str; 5] = ["A.make", "A.copy", "B.make", "C.load", "C.store"];

fn engine(blocks: &[Spec]) -> Engine {
    let trace = write(1.0, blocks, |code| {
        let name = NAMES.get(code as usize - 1).copied().unwrap_or("Main.run");
        vec![(name, "it.ml", code as u32)]
    });
    let engine = Engine::new(Setting::default());
    engine.add(&trace, Description::default(), &mut |_| ()).unwrap();
    engine
}

fn ask(engine: &Engine, window: f64, at: Option<f64>) -> LiveSites {
    engine
        .live_sites(&LiveSitesQuery { rec: 0, by: By::Function, window, at, freed: None })
        .unwrap()
}

/// Bytes: live, changed, allocated, freed; and the age of all samples together in seconds.
fn slowly(blocks: &[Spec], from: u64, to: u64) -> BTreeMap<&'static str, [f64; 5]> {
    let mut sums = BTreeMap::new();
    for block in blocks.iter().filter(|block| block.allocated <= to) {
        let sum: &mut [f64; 5] = sums.entry(NAMES[block.stack[1] as usize - 1]).or_default();
        let bytes = block.samples as f64 * 8.0;
        let lives = |at: u64| block.allocated <= at && block.collected.is_none_or(|end| end > at);
        let happened = |time: u64| time > from && time <= to;
        if lives(to) {
            sum[0] += bytes;
            sum[1] += bytes;
            sum[4] += block.samples as f64 * (to - block.allocated) as f64 / 1e6;
        }
        if lives(from) {
            sum[1] -= bytes;
        }
        if happened(block.allocated) {
            sum[2] += bytes;
        }
        if block.collected.is_some_and(happened) {
            sum[3] += bytes;
        }
    }
    sums
}

#[test]
fn sums_are_those_of_all_blocks_one_by_one() {
    let blocks = blocks();
    let engine = engine(&blocks);
    let end = blocks
        .iter()
        .flat_map(|block| [Some(block.allocated), block.promoted, block.collected])
        .flatten()
        .max()
        .unwrap();
    for (window, at) in [(1.0, None), (4.0, None), (100.0, None), (0.0, None), (3.0, Some(20.0))] {
        let to = at.map_or(end, |at| (at * 1e6) as u64);
        let from = to.saturating_sub((window * 1e6) as u64);
        let found = ask(&engine, window, at);
        assert!((found.at - to as f64 / 1e6).abs() < 1e-9);
        assert!((found.window - (to - from) as f64 / 1e6).abs() < 1e-9);
        let expected = slowly(&blocks, from, to);
        let mut all = [0.0; 4];
        for row in &found.rows {
            let of = &row.figures;
            let expected = expected[row.name.as_str()];
            let age = of.age.unwrap_or(0.0) * of.live.value / 8.0;
            let found = [of.live.value, of.change.value, of.allocated.value, of.freed.value, age];
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-3, "{row:?} {expected:?}");
            }
            for (sum, one) in all.iter_mut().zip(found) {
                *sum += one;
            }
            assert!((row.share - of.live.value / found_live(&engine, window, at)).abs() < 1e-9);
        }
        let of = &found.all;
        for (sum, one) in
            all.iter().zip([of.live.value, of.change.value, of.allocated.value, of.freed.value])
        {
            assert!((sum - one).abs() < 1e-6, "{window} {at:?}");
        }
        let changes: Vec<f64> = found.rows.iter().map(|row| row.figures.change.value).collect();
        assert!(changes.is_sorted_by(|a, b| a >= b), "{changes:?}");
        let total: f64 = blocks.iter().map(|block| block.samples as f64 * 8.0).sum();
        assert!((found.total.value - total).abs() < 1e-6);
    }
}

fn found_live(engine: &Engine, window: f64, at: Option<f64>) -> f64 {
    ask(engine, window, at).all.live.value
}

/// A process that ended at 15 s and one that runs: their sum is what one process would have that allocated all, and
/// freed at 15 s what the first had.
#[test]
fn sums_over_processes_are_those_of_their_blocks_together() {
    let (ended, runs) = (blocks(), blocks());
    let freed = 15_000_000;
    let engines = [engine(&ended), engine(&runs)];
    let all = ended.iter().map(|block| {
        let collected = block.collected.or(Some(freed));
        Spec { collected, stack: block.stack.clone(), ..*block }
    });
    let all: Vec<Spec> = all.chain(runs.iter().map(Spec::clone)).collect();
    for (window, at) in [(1.0, 15.5), (4.0, 20.0), (100.0, 20.0), (20.0, 15.0), (0.0, 16.0)] {
        let of = |number: usize, freed| {
            let query = LiveSitesQuery { rec: 0, by: By::Function, window, at: Some(at), freed };
            engines[number].live_sites(&query).unwrap()
        };
        let parts = [of(0, Some(freed as f64 / 1e6)), of(1, None)];
        let sum = LiveSites::sum("both".into(), at, window, parts.iter());
        let to = (at * 1e6) as u64;
        let expected = slowly(&all, to.saturating_sub((window * 1e6) as u64), to);
        let mut total = [0.0; 4];
        for row in &sum.rows {
            let of = &row.figures;
            let age = of.age.unwrap_or(0.0) * of.live.value / 8.0;
            let found = [of.live.value, of.change.value, of.allocated.value, of.freed.value, age];
            for (found, expected) in found.iter().zip(expected[row.name.as_str()]) {
                assert!((found - expected).abs() < 1e-3, "{row:?} {expected:?}");
            }
            for (total, one) in total.iter_mut().zip(found) {
                *total += one;
            }
        }
        let of = &sum.all;
        let all = [of.live.value, of.change.value, of.allocated.value, of.freed.value];
        assert!(total.iter().zip(all).all(|(a, b)| (a - b).abs() < 1e-3), "{total:?} {all:?}");
        let shares: f64 = sum.rows.iter().map(|row| row.share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
        assert!((sum.total.value - 2.0 * parts[1].total.value).abs() < 1e-3);
        let variances = parts.iter().map(|part| part.all.live.stderr.powi(2)).sum::<f64>();
        assert!((of.live.stderr.powi(2) - variances).abs() < 1e-3);
        assert_eq!(sum.count, sum.rows.len());
    }
}

#[test]
fn moments_that_are_none_are_the_end() {
    let engine = engine(&blocks());
    let end = ask(&engine, 1.0, None).at;
    for at in [f64::NAN, f64::INFINITY, -1.0, 0.5] {
        assert!((ask(&engine, 1.0, Some(at)).at - end).abs() < 1e-9, "{at}");
    }
    for window in [f64::NAN, f64::INFINITY, -1.0, f64::MAX] {
        let of = ask(&engine, window, None);
        assert!(of.window >= 0.0 && of.window <= of.at, "{window}");
    }
    let query = LiveSitesQuery { rec: 1, by: By::Site, window: 1.0, at: None, freed: None };
    assert!(engine.live_sites(&query).is_err());
}

#[test]
fn owners_are_compared_with_the_snapshots_before() {
    let offline = Setting { live: false, offline: true };
    let engine = with_snapshots(offline, &[heap(1, 10), heap(2, 20), heap(3, 40)]);
    let id = memtrail_engine::RecordingId(0);
    let of = loop {
        match engine.owner_changes(id).unwrap() {
            Outcome::Ready(of) if engine.work().is_none() => break of.response,
            _ => assert!(engine.work().is_some() || engine.owner_changes(id).is_ok()),
        }
    };
    assert_eq!((of.snapshot, of.rows.len()), (3, of.count));
    let alive: u64 = of.rows.iter().map(|row| row.owned.0).sum();
    assert_eq!(alive, of.alive.0);
    let largest = &of.rows[0];
    // Ten cells more than in the first, and then twenty: the second change is two thirds of both.
    let (before, first) = (largest.since_before.unwrap(), largest.since_first.unwrap());
    assert!(before > 0 && before * 3 == first * 2, "{largest:?}");
    assert!(of.before_at.is_some() && of.first_at.is_some());
}
