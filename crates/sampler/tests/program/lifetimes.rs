//! What becomes of blocks: allocated, zeroed, aligned, resized, freed.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::hint::black_box;

use memtrail_sampler::{Bytes, NullTracker, Rate, Source, StartError, start, start_seeded};

use crate::{Event, Log, turn};

/// Larger than anything that the test harness allocates.
const BIG: u64 = 1 << 20;

#[test]
fn exact_profiles_have_every_event_of_a_block() {
    let _turn = turn();
    let profile = start(Rate::EXACT, 8, Log::of_blocks_from(BIG)).unwrap();
    let layout = Layout::from_size_align(BIG as usize, 8).unwrap();
    // SAFETY: each block is freed with the layout that it has by then.
    unsafe {
        let block = alloc(layout);
        let block = realloc(block, layout, 2 * BIG as usize);
        dealloc(block, Layout::from_size_align(2 * BIG as usize, 8).unwrap());
        let page = Layout::from_size_align(BIG as usize + 1, 4096).unwrap();
        let block = alloc_zeroed(page);
        assert_eq!(block.addr() % 4096, 0);
        dealloc(block, page);
    }
    let events = profile.stop().into_events();
    let allocated = |number, size, source| Event::Allocated { number, size, samples: size, source };
    assert_eq!(
        events,
        [
            allocated(0, BIG, Source::Allocated),
            Event::Reallocated { number: 0, size: 2 * BIG, samples: 2 * BIG },
            Event::Freed { number: 0 },
            allocated(1, BIG + 1, Source::Zeroed),
            Event::Freed { number: 1 },
        ]
    );
}

#[test]
fn a_block_that_is_resized_and_not_sampled_any_more_is_freed() {
    let _turn = turn();
    let mut kinds = [0_u32; 3];
    // Half of the blocks of 1 MiB are sampled.
    let rate = Rate::every(Bytes(BIG * 10 / 7));
    let profile = start_seeded(rate, 4, Log::of_blocks_from(BIG), 5).unwrap();
    for _ in 0..400 {
        let mut block = Vec::<u8>::with_capacity(BIG as usize);
        black_box(block.as_mut_ptr());
        block.reserve_exact(BIG as usize + 1);
        black_box(block.as_mut_ptr());
    }
    let events = profile.stop().into_events();
    let mut tracked = std::collections::BTreeSet::new();
    for event in events {
        match event {
            Event::Allocated { number, source, .. } => {
                assert!(tracked.insert(number));
                kinds[0] += u32::from(source == Source::Reallocated);
            }
            Event::Reallocated { number, .. } => {
                assert!(tracked.contains(&number));
                kinds[1] += 1;
            }
            Event::Freed { number } => {
                assert!(tracked.remove(&number));
                kinds[2] += 1;
            }
        }
    }
    assert!(tracked.is_empty(), "all blocks were freed");
    assert!(kinds.iter().all(|&count| count > 50), "each kind occurs: {kinds:?}");
}

#[test]
fn blocks_from_before_a_profile_are_none_of_its() {
    let _turn = turn();
    let before = black_box(vec![1_u8; BIG as usize]);
    let profile = start(Rate::EXACT, 8, Log::of_blocks_from(BIG)).unwrap();
    drop(before);
    let after = black_box(vec![1_u8; BIG as usize]);
    let first = profile.stop().into_events();
    assert_eq!(first.len(), 1, "{first:?}");
    let profile = start(Rate::EXACT, 8, Log::of_blocks_from(BIG)).unwrap();
    drop(after);
    assert_eq!(profile.stop().into_events(), []);
}

#[test]
fn starting_twice_is_an_error() {
    let _turn = turn();
    let profile = start(Rate::EXACT, 8, NullTracker).unwrap();
    assert_eq!(start(Rate::EXACT, 8, NullTracker).err(), Some(StartError::Running));
    drop(profile);
    start(Rate::EXACT, 8, NullTracker).unwrap().stop();
}

#[test]
fn blocks_without_bytes_are_never_sampled() {
    let _turn = turn();
    let profile = start(Rate::EXACT, 8, Log::of_blocks_from(0)).unwrap();
    let nothing = black_box(Vec::<u64>::new());
    let unit = black_box(Box::new(()));
    drop((nothing, unit));
    let events = profile.stop().into_events();
    assert!(!events.iter().any(|event| matches!(event, Event::Allocated { size: 0, .. })));
}

/// The thread that starts a profile is sampled from its next byte on.
#[test]
fn estimates_of_seeded_runs_agree_with_the_total() {
    let _turn = turn();
    let rate = Rate::every(Bytes(64 << 10));
    let (mut sum, mut squares, runs) = (0.0, 0.0, 100_u32);
    for seed in 0..runs {
        let profile = start_seeded(rate, 0, Log::of_blocks_from(3000), seed.into()).unwrap();
        let mut total = 0;
        for n in 0..400_usize {
            let size = if n.is_multiple_of(50) { 500_000 } else { 3000 + n * 10 };
            total += size;
            drop(black_box(Vec::<u8>::with_capacity(size)));
        }
        let events = profile.stop().into_events();
        let samples: u64 = events
            .iter()
            .map(|event| match event {
                Event::Allocated { samples, .. } => *samples,
                _ => 0,
            })
            .sum();
        let p = rate.probability();
        let z = (samples as f64 / p - total as f64) / (total as f64 * (1.0 - p) / p).sqrt();
        sum += z;
        squares += z * z;
    }
    let runs = f64::from(runs);
    assert!((sum / runs.sqrt()).abs() < 5.0, "biased: {sum}");
    assert!(((squares - runs) / (2.0 * runs).sqrt()).abs() < 6.0, "{squares}");
}
