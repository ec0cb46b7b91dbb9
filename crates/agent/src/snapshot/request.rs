//! Who wants a snapshot, and whether it is to be had: explicit wishes always are, those that come by
//! themselves are thinned.

use std::sync::atomic::{
    AtomicU32, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
};
use std::time::Duration;

use memtrail_recording::SnapshotReason;
use memtrail_recording::session::SnapshotOptions;

use crate::os::clock::monotonic;
use crate::os::own_thread;

/// What is wanted of this process, and what it has had.
struct Requests {
    /// What is wanted and not yet taken, a bit a reason; a futex that the thread of ours sleeps on
    /// that sees to it.
    wanted: AtomicU32,
    /// When the last of these was taken.
    last_unasked: AtomicU64,
    /// Snapshots taken that nobody asked for one by one.
    unasked: AtomicU64,
}

static REQUESTS: Requests = Requests {
    wanted: AtomicU32::new(0),
    last_unasked: AtomicU64::new(0),
    unasked: AtomicU64::new(0),
};

/// A bit that stands for no reason.
const NOTHING: u32 = 1 << 31;

const REASONS: [SnapshotReason; 7] = [
    SnapshotReason::Request,
    SnapshotReason::Signal,
    SnapshotReason::OutOfMemory,
    SnapshotReason::Above,
    SnapshotReason::EveryMajor,
    SnapshotReason::Exit,
    SnapshotReason::Auto,
];

fn bit(reason: SnapshotReason) -> u32 {
    REASONS.iter().position(|&known| known == reason).map_or(0, |index| 1 << index)
}

/// Asks for a snapshot at the next moment that is safe. May be called in a signal handler.
pub(super) fn add(reason: SnapshotReason) {
    want(bit(reason));
}

/// Wakes the threads of ours that see to it, for good: the program's main thread has ended, or a signal that ends the
/// program has come. May be called in a signal handler.
pub(super) fn wake() {
    want(NOTHING);
}

fn want(bit: u32) {
    REQUESTS.wanted.fetch_or(bit, AcqRel);
    own_thread::wake(&REQUESTS.wanted);
    own_thread::call();
}

/// Whether something is wanted.
#[inline]
pub(super) fn wanted() -> bool {
    REQUESTS.wanted.load(Acquire) & !NOTHING != 0
}

/// Takes on what is wanted, as one snapshot: its most explicit reason.
pub(super) fn accept() -> Option<SnapshotReason> {
    let wanted = REQUESTS.wanted.fetch_and(NOTHING, AcqRel);
    REASONS.into_iter().find(|&reason| wanted & bit(reason) != 0)
}

/// Forgets what the process that this one was forked from wanted.
pub(super) fn forget() {
    REQUESTS.wanted.store(0, Relaxed);
    REQUESTS.unasked.store(0, Relaxed);
    REQUESTS.last_unasked.store(0, Relaxed);
}

/// Sleeps until something is wanted.
pub(super) fn sleep() {
    own_thread::wait(&REQUESTS.wanted, 0, Duration::from_millis(u32::MAX.into()));
}

/// Whether one more snapshot that nobody asked for is to be taken now; counts it if so.
pub(super) fn one_more(options: &SnapshotOptions) -> bool {
    if options.at_most.is_some_and(|most| REQUESTS.unasked.load(Relaxed) >= most) {
        return false;
    }
    let (now, last) = (monotonic(), REQUESTS.last_unasked.load(Relaxed));
    if last != 0 && now.saturating_sub(last) < options.every_ms.saturating_mul(1_000_000) {
        return false;
    }
    REQUESTS.last_unasked.store(now, Relaxed);
    REQUESTS.unasked.fetch_add(1, Relaxed);
    true
}
