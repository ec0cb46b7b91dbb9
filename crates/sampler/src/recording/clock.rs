//! The trace's clock: the time of day when recording began, and monotonic time since.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use memtrail_recording::Clock;
use memtrail_trace::Timestamp;

/// A clock that never goes back.
#[derive(Clone, Copy, Debug)]
pub(super) struct TraceClock {
    start: Clock,
    since: Instant,
}

impl TraceClock {
    /// Recording begins.
    pub(super) fn new() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let start = Clock {
            start_unix_us: since_epoch.as_micros() as u64,
            start_monotonic_ns: monotonic_ns(),
        };
        Self { start, since: Instant::now() }
    }

    /// When recording began, on both clocks.
    pub(super) fn start(&self) -> Clock {
        self.start
    }

    pub(super) fn now(&self) -> Timestamp {
        Timestamp(self.start.start_unix_us + self.since.elapsed().as_micros() as u64)
    }
}

fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the time there; without one it stays 0.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
