//! What each thread has of its own: bytes before it must look, and its stream of random numbers.
//!
//! It is initialised at compile time and has no destructor, so that it can be used from the thread's first
//! allocation to its last.

use std::cell::Cell;

use crate::draw::Draws;
use crate::rate::Rate;
use crate::units::{Bytes, Samples};

/// Bytes after which a thread looks whether a profile was started or stopped. That takes some nanoseconds.
const LOOK_EVERY: u64 = 64 << 10;

/// The state of a thread.
pub(crate) struct Thread {
    /// Bytes before this thread must look, below 0 when it must.
    left: Cell<i64>,
    /// What `left` was after the last look.
    granted: Cell<i64>,
    /// Callbacks and suspensions under way.
    suspended: Cell<u32>,
    /// Uses of the current profile under way.
    in_use: Cell<u32>,
    draws: Cell<Option<Stream>>,
}

/// The draws of a thread for one profile.
struct Stream {
    draws: Draws,
    generation: u64,
}

/// What a thread must know of a profile to draw.
#[derive(Clone, Copy)]
pub(crate) struct Drawn {
    pub(crate) rate: Rate,
    pub(crate) generation: u64,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            left: Cell::new(0),
            granted: Cell::new(0),
            suspended: Cell::new(0),
            in_use: Cell::new(0),
            draws: Cell::new(None),
        }
    };
}

/// Counts allocated bytes. `true` if the thread must look whether they are sampled.
#[inline]
pub(crate) fn count(size: Bytes) -> bool {
    THREAD.with(|thread| {
        let left = thread.left.get().wrapping_sub(size.0 as i64);
        thread.left.set(left);
        left < 0
    })
}

/// No profile is running: the bytes that were counted are no one's.
pub(crate) fn forget_counted() {
    THREAD.with(|thread| {
        thread.draws.set(None);
        thread.grant(LOOK_EVERY);
    });
}

/// Draws for a block whose size was counted last. `seed` is for the thread's first draw of this profile.
pub(crate) fn draw(profile: Drawn, size: Bytes, seed: impl FnOnce() -> u64) -> Samples {
    THREAD.with(|thread| {
        let before = thread.left.get().wrapping_add(size.0 as i64);
        let passed = thread.granted.get().wrapping_sub(before).max(0) as u64;
        let mut stream = match thread.draws.take() {
            Some(mut stream) if stream.generation == profile.generation => {
                stream.draws.pass_over(Bytes(passed));
                stream
            }
            _ => Stream { draws: Draws::new(profile.rate, seed()), generation: profile.generation },
        };
        let samples = stream.draws.samples_of(size);
        thread.grant(stream.draws.unsampled().0.min(LOOK_EVERY));
        thread.draws.set(Some(stream));
        samples
    })
}

impl Thread {
    fn grant(&self, bytes: u64) {
        self.granted.set(bytes as i64);
        self.left.set(bytes as i64);
    }
}

/// Whether nothing is sampled in this thread.
pub(crate) fn is_suspended() -> bool {
    THREAD.with(|thread| thread.suspended.get() != 0)
}

/// While it exists, nothing that this thread allocates is counted.
pub(crate) struct Suspension {
    left: i64,
}

impl Suspension {
    pub(crate) fn begin() -> Self {
        THREAD.with(|thread| {
            thread.suspended.set(thread.suspended.get() + 1);
            // More than any thread ever allocates.
            Self { left: thread.left.replace(i64::MAX) }
        })
    }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        THREAD.with(|thread| {
            thread.suspended.set(thread.suspended.get() - 1);
            thread.left.set(self.left);
        });
    }
}

/// Notes that this thread uses the current profile, or has ended a use.
pub(crate) fn note_use(begins: bool) {
    THREAD.with(|thread| {
        let in_use = thread.in_use.get();
        thread.in_use.set(if begins { in_use + 1 } else { in_use - 1 });
    });
}

/// How often this thread uses the current profile at this moment.
pub(crate) fn uses() -> u32 {
    THREAD.with(|thread| thread.in_use.get())
}

/// The next allocation looks, and draws from random numbers of its own.
pub(crate) fn restart() {
    THREAD.with(|thread| {
        thread.draws.set(None);
        if thread.suspended.get() == 0 {
            thread.grant(0);
        }
    });
}
