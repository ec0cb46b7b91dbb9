//! What callbacks may do, and what they are given.

use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use memtrail_sampler::{
    Address, Allocation, Bytes, MAX_FRAMES, NullTracker, Rate, Tracker, start, suspended,
};

use crate::turn;

const BIG: u64 = 1 << 20;

/// Allocates and frees a lot in its callbacks, and frees tracked blocks.
#[derive(Default)]
struct Nested {
    calls: AtomicU64,
    freed: AtomicU64,
    kept: Mutex<Vec<Vec<u8>>>,
}

impl Tracker for Nested {
    type Data = Vec<u64>;

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<Vec<u64>> {
        // While a tracker's lock is held, a tracked block of the program's is freed below.
        self.kept.lock().unwrap().clear();
        if allocation.size().0 < BIG {
            return None;
        }
        self.calls.fetch_add(1, SeqCst);
        drop(black_box(vec![0_u8; 4 * BIG as usize]));
        Some(vec![allocation.size().0; 100])
    }

    fn freed(&self, data: Vec<u64>) {
        // Not while another callback of this thread runs.
        drop(self.kept.lock().unwrap());
        assert_eq!(data.len(), 100);
        self.freed.fetch_add(1, SeqCst);
    }
}

#[test]
fn callbacks_may_allocate_and_free() {
    let _turn = turn();
    let profile = start(Rate::EXACT, 8, Nested::default()).unwrap();
    for _ in 0..10 {
        let block = black_box(vec![1_u8; BIG as usize]);
        suspended(|| profile.tracker().kept.lock().unwrap().push(block));
        drop(black_box(vec![1_u8; BIG as usize]));
    }
    drop(black_box(vec![1_u8; 10]));
    let tracker = profile.stop();
    assert_eq!(tracker.calls.into_inner(), 20);
    assert_eq!(tracker.freed.into_inner(), 20);
}

/// Panics in every callback.
struct Panics;

impl Tracker for Panics {
    type Data = ();

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<()> {
        assert!(allocation.size().0 < BIG, "as intended");
        None
    }
}

#[test]
fn panics_of_callbacks_do_not_reach_the_program() {
    let _turn = turn();
    let profile = start(Rate::EXACT, 8, Panics).unwrap();
    assert_eq!(black_box(vec![1_u8; BIG as usize]).len(), BIG as usize);
    profile.stop();
}

/// Keeps the callstacks of large blocks.
#[derive(Default)]
struct Stacks(Mutex<Vec<Vec<Address>>>);

impl Tracker for Stacks {
    type Data = ();

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<()> {
        if allocation.size().0 >= BIG {
            self.0.lock().unwrap().push(allocation.callstack().frames().to_vec());
        }
        None
    }
}

#[inline(never)]
fn deep(levels: u32) -> usize {
    if levels == 0 {
        return black_box(Vec::<u8>::with_capacity(BIG as usize)).capacity();
    }
    black_box(deep(black_box(levels - 1)))
}

#[test]
fn callstacks_are_those_of_the_allocation_and_have_at_most_the_given_size() {
    let _turn = turn();
    let profile = start(Rate::EXACT, 2000, Stacks::default()).unwrap();
    deep(3);
    deep(100);
    deep(1000);
    let stacks = profile.stop().0.into_inner().unwrap();
    let [shallow, middle, cut] = &stacks[..] else { panic!("{} stacks", stacks.len()) };
    assert_eq!(middle.len() - shallow.len(), 97);
    assert_eq!(cut.len(), MAX_FRAMES);
    // The innermost frames are the allocation's, the outermost those of the thread. Between are the calls of
    // `deep` by itself, all from one place.
    let common = shallow.iter().zip(middle).take_while(|(a, b)| a == b).count();
    assert!(middle[common - 1..common + 90].windows(2).all(|pair| pair[0] == pair[1]));
    let outer = shallow.iter().rev().zip(middle.iter().rev()).take_while(|(a, b)| a == b).count();
    assert!(outer > 3, "{outer}");

    let profile = start(Rate::EXACT, 5, Stacks::default()).unwrap();
    deep(100);
    assert_eq!(profile.stop().0.into_inner().unwrap()[0], middle[..5]);
}

#[test]
fn nothing_is_sampled_while_suspended() {
    let _turn = turn();
    let profile = start(Rate::EXACT, 8, Stacks::default()).unwrap();
    suspended(|| deep(1));
    deep(1);
    assert_eq!(profile.stop().0.into_inner().unwrap().len(), 1);
}

#[test]
fn a_null_tracker_tracks_nothing() {
    let _turn = turn();
    let profile = start(Rate::every(Bytes(100)), 8, NullTracker).unwrap();
    deep(10);
    profile.stop();
}
