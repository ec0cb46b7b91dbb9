//! Forked children, whose parents' threads allocate at that moment.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use memtrail_sampler::{Allocation, Rate, Tracker, start};

use crate::turn;

const LARGE: usize = 1 << 16;

struct Tracks;

impl Tracker for Tracks {
    type Data = ();

    fn allocated(&self, _: &Allocation<'_>) -> Option<()> {
        Some(())
    }
}

#[test]
fn a_child_allocates_and_stops_the_profile() {
    let _turn = turn();
    let end = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !end.load(SeqCst) {
                    drop(black_box(Vec::<u8>::with_capacity(LARGE)));
                }
            });
        }
        let mut profile = Some(start(Rate::EXACT, 2, Tracks).unwrap());
        for _ in 0..50 {
            // SAFETY: the child allocates, which glibc allows, and ends by `_exit`.
            let child = unsafe { libc::fork() };
            if child == 0 {
                for _ in 0..100 {
                    drop(black_box(Vec::<u8>::with_capacity(LARGE)));
                }
                drop(profile.take());
                drop(black_box(Vec::<u8>::with_capacity(LARGE)));
                // SAFETY: it ends the process.
                unsafe { libc::_exit(7) };
            }
            let mut status = 0;
            // SAFETY: it is this process's child.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 7 << 8);
        }
        end.store(true, SeqCst);
    });
}
