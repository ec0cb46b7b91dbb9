//! Many threads, their ends, and profiles that start and stop meanwhile.

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;

use memtrail_sampler::{Allocation, Rate, Tracker, start};

use crate::turn;

const LARGE: usize = 100_000;

/// Counts blocks of one size, allocated and freed.
#[derive(Default)]
struct Counts {
    allocated: AtomicU64,
    freed: AtomicU64,
}

impl Tracker for Counts {
    type Data = ();

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<()> {
        (allocation.size().0 == LARGE as u64).then(|| {
            self.allocated.fetch_add(1, SeqCst);
        })
    }

    fn freed(&self, (): ()) {
        self.freed.fetch_add(1, SeqCst);
    }
}

fn large() -> Vec<u8> {
    black_box(Vec::with_capacity(LARGE))
}

#[test]
fn blocks_of_all_threads_are_tracked_and_may_be_freed_by_others() {
    let _turn = turn();
    let profile = start(Rate::EXACT, 4, Counts::default()).unwrap();
    let (send, receive) = mpsc::channel();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let send = send.clone();
            thread::spawn(move || {
                for n in 0..500 {
                    let block = large();
                    if n % 2 == 0 {
                        send.send(block).unwrap();
                    }
                }
            })
        })
        .collect();
    drop(send);
    assert_eq!(receive.iter().map(drop).count(), 2000);
    for thread in threads {
        thread.join().unwrap();
    }
    let counts = profile.stop();
    assert_eq!(counts.allocated.into_inner(), 4000);
    assert_eq!(counts.freed.into_inner(), 4000);
}

thread_local! {
    static LAST: RefCell<Allocates> = const { RefCell::new(Allocates(Vec::new())) };
}

/// Allocates and frees when its thread ends.
struct Allocates(Vec<u8>);

impl Drop for Allocates {
    fn drop(&mut self) {
        self.0 = large();
        drop(large());
    }
}

#[test]
fn threads_are_sampled_until_their_end() {
    let _turn = turn();
    let profile = start(Rate::EXACT, 4, Counts::default()).unwrap();
    for _ in 0..10 {
        thread::spawn(|| LAST.with(|last| last.borrow_mut().0 = large())).join().unwrap();
    }
    let counts = profile.stop();
    assert_eq!(counts.allocated.into_inner(), 30);
    assert_eq!(counts.freed.into_inner(), 30);
}

#[test]
fn profiles_start_and_stop_while_threads_allocate() {
    let _turn = turn();
    let end = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut blocks = std::collections::VecDeque::new();
                while !end.load(SeqCst) {
                    blocks.push_back(large());
                    if blocks.len() > 20 {
                        blocks.pop_front();
                    }
                }
            });
        }
        for _ in 0..200 {
            let profile = start(Rate::EXACT, 2, Counts::default()).unwrap();
            drop(large());
            let counts = profile.stop();
            let (allocated, freed) = (counts.allocated.into_inner(), counts.freed.into_inner());
            assert!((1..=allocated).contains(&freed), "{freed} of {allocated}");
        }
        end.store(true, SeqCst);
    });
}
