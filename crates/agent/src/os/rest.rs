//! Sleeps of threads of ours between looks: the longer, the longer the program has done nothing.
//!
//! A server that waits is woken less than once a second. Its next sample wakes the threads. While they sleep long,
//! somebody who asks for a snapshot waits for an eighth of the time that the program has done nothing, and
//! for three seconds at most.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::os::clock::{monotonic, of_process};
use crate::os::errno::keeping_errno;
use crate::os::own_thread;

/// The longest sleep of a thread that somebody may ask for something, in milliseconds.
pub(crate) const ASKED: u64 = 3_000;
/// The longest sleep of one that only looks at what the program does.
pub(crate) const LOOKING: u64 = 16_000;
/// A sleep is this part of the time that the program has done nothing.
const PART: u64 = 8;
/// A program that uses less than this part of a processor does nothing.
const BUSY: u64 = 100;
const MILLISECOND: u64 = 1_000_000;

/// True if a thread sleeps for longer than it would if the program worked.
static IS_LONG: AtomicBool = AtomicBool::new(false);
/// Processor time that our threads have used for long work, in nanoseconds: it is none of the program's.
static OWN_CPU_TIME: AtomicU64 = AtomicU64::new(0);
/// True while one of them is at such work, which is not in [`OWN_CPU_TIME`] yet.
static IS_AT_WORK: AtomicBool = AtomicBool::new(false);

/// The sleeps of one thread. All times are in nanoseconds.
pub(crate) struct Rest {
    /// The longest sleep, in milliseconds.
    most: u64,
    /// Calls that the thread has heard, and whether one of them ended its last sleep.
    calls: u32,
    was_called: bool,
    /// When the thread last slept, and the processor time of the program then, from a moment that may lie before a fork.
    slept: u64,
    used: u64,
    /// When the program last did something.
    busy: u64,
}

impl Rest {
    pub(crate) fn begin(most: u64) -> Self {
        let now = monotonic();
        let calls = own_thread::calls();
        Self { most, calls, was_called: false, slept: now, used: of_program(), busy: now }
    }

    /// Sleeps so many milliseconds; longer if the program has done nothing for long, less if the thread is called. False
    /// once the main thread has ended.
    pub(crate) fn sleep(&mut self, milliseconds: u64) -> bool {
        if self.was_called || !IS_AT_WORK.load(Relaxed) {
            self.note(monotonic(), of_program());
        }
        let time = pause(self.slept.saturating_sub(self.busy), milliseconds, self.most);
        if time > milliseconds {
            IS_LONG.store(true, Relaxed);
        }
        let goes_on = own_thread::sleep_until_called(self.calls, time);
        // A call that comes from here on ends the next sleep.
        let calls = own_thread::calls();
        self.was_called = std::mem::replace(&mut self.calls, calls) != calls;
        goes_on
    }

    /// The time that a thread sleeps which no sample wakes: longer if the program has done nothing for long.
    pub(crate) fn lengthened(&mut self, least: Duration) -> Duration {
        self.note(monotonic(), of_program());
        let idle = self.slept.saturating_sub(self.busy);
        let least = u64::try_from(least.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(pause(idle, least, self.most))
    }

    /// Notes whether the program has done something since the last sleep.
    fn note(&mut self, now: u64, used: u64) {
        let passed = now.saturating_sub(self.slept);
        // Less than nothing if work of ours is counted that began before.
        let worked = used.wrapping_sub(self.used).cast_signed().max(0).cast_unsigned();
        if self.was_called || worked.saturating_mul(BUSY) > passed {
            self.busy = now;
        }
        (self.slept, self.used) = (now, used);
    }
}

/// Processor time of the process, without long work of ours: differences alone mean something, as a forked child has used
/// nothing yet and knows the work of its parent.
fn of_program() -> u64 {
    of_process().wrapping_sub(OWN_CPU_TIME.load(Relaxed))
}

/// The one thread of ours that does long work begins with it.
pub(crate) fn begin_own_work() {
    IS_AT_WORK.store(true, Relaxed);
}

/// It has done its work, in so many nanoseconds of processor time.
pub(crate) fn end_own_work(used: u64) {
    OWN_CPU_TIME.fetch_add(used, Relaxed);
    IS_AT_WORK.store(false, Relaxed);
}

/// Milliseconds of a sleep, by the nanoseconds for which the program has done nothing.
fn pause(idle: u64, least: u64, most: u64) -> u64 {
    (idle / PART / MILLISECOND).min(most).max(least)
}

/// The program was sampled: it does something.
#[inline]
pub(crate) fn end_by_sample() {
    if IS_LONG.load(Relaxed) {
        end();
    }
}

#[cold]
fn end() {
    IS_LONG.store(false, Relaxed);
    keeping_errno(own_thread::call);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000 * MILLISECOND;

    #[test]
    fn sleeps_grow_while_nothing_is_done() {
        assert_eq!(pause(0, 150, ASKED), 150);
        assert_eq!(pause(SECOND, 150, ASKED), 150);
        assert_eq!(pause(8 * SECOND, 150, ASKED), 1_000);
        assert_eq!(pause(3_600 * SECOND, 150, ASKED), ASKED);
        assert_eq!(pause(3_600 * SECOND, 5_000, ASKED), 5_000);
        assert_eq!(pause(3_600 * SECOND, 500, LOOKING), LOOKING);
    }

    #[test]
    fn work_and_calls_end_them() {
        // A forked child begins below zero: its parent has done more work of ours than it has used.
        let used = SECOND.wrapping_neg();
        let idle = |worked: u64, was_called| {
            let mut rest = Rest { most: ASKED, calls: 0, was_called, slept: 0, used, busy: 0 };
            rest.note(10 * SECOND, used.wrapping_add(worked));
            rest.slept - rest.busy
        };
        assert_eq!(idle(SECOND / 20, false), 10 * SECOND, "a twentieth of a second in ten");
        assert_eq!(idle(SECOND / 5, false), 0);
        assert_eq!(idle(2 * SECOND, false), 0);
        assert_eq!(idle(0, true), 0);
        assert_eq!(idle(SECOND.wrapping_neg(), false), 10 * SECOND, "work of ours alone");
    }
}
