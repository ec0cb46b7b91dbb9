//! One piece of work for each of many, several at once.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Tests wait a lot: for timers, threads and children.
const AT_ONCE_PER_PROCESSOR: usize = 4;

pub(super) fn each<T: Sync>(all: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..processors * AT_ONCE_PER_PROCESSOR {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Relaxed)) {
                    work(one);
                }
            });
        }
    });
}
