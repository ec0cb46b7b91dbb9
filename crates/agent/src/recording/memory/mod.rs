//! What the process's resident memory is used for: how it is measured, and how the threads agree on when.
//!
//! Nothing is stopped: figures of the OCaml runtime are read through the kernel while it runs, and each is
//! one that was right a moment ago. One thread of ours measures
//! ([`memory_thread`](super::memory_thread)): it calls `mallinfo2`, which takes the locks of `malloc`. A thread
//! that ends the process in a signal handler may hold one of them, so it does not wait for that long.

mod malloc;
pub(crate) mod pace;
pub(crate) mod process;
mod runtime;

use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{AcqRel, Acquire, Release},
};
use std::time::Duration;

use memtrail_recording::memory::MemoryFigures;

pub(crate) use self::malloc::Malloc;
use self::runtime::Domains;
use crate::context::target::Target;
use crate::os::clock::monotonic;
use crate::os::lock::Lock;
use crate::os::own_thread;
use crate::recording::figure_log::FigureLog;

/// How long the end of the process waits for the last figures, in nanoseconds: while the thread waits for
/// locks of `malloc`, and otherwise.
const PATIENCE_FOR_LOCKS: u64 = 500_000_000;
const PATIENCE: u64 = 5_000_000_000;
/// How often it looks which of them it is.
const LOOK: Duration = Duration::from_millis(50);

/// What threads that allocate, the one that measures and the one that ends the process share.
pub(crate) struct MemoryLog {
    pub(crate) domains: Domains,
    malloc: Malloc,
    /// Whether there is a thread that measures.
    runs: AtomicBool,
    /// Counts requests for figures at once; a futex that the thread sleeps on.
    wanted: AtomicU32,
    /// The last of these that was answered; a futex.
    done: AtomicU32,
    /// The files of figures, while no thread measures.
    pub(super) logs: Lock<Option<[FigureLog; 2]>>,
}

impl MemoryLog {
    /// `state` is that of the domain which begins the recording.
    pub(crate) fn new(state: u64) -> Self {
        Self {
            domains: Domains::new(state),
            malloc: Malloc::find(),
            runs: AtomicBool::new(false),
            wanted: AtomicU32::new(0),
            done: AtomicU32::new(0),
            logs: Lock::new(None),
        }
    }

    /// Whether there is a thread that measures, from now on.
    pub(super) fn set_running(&self, runs: bool) {
        self.runs.store(runs, Release);
        own_thread::wake(&self.done);
    }

    /// Wakes the thread that measures; gives the number of the request.
    pub(super) fn request(&self) -> u32 {
        let number = self.wanted.fetch_add(1, AcqRel).wrapping_add(1);
        own_thread::wake(&self.wanted);
        number
    }

    /// The thread that measures sleeps, at most so long. The number of the last request.
    pub(super) fn sleep(&self, time: Duration) -> u32 {
        own_thread::wait(&self.wanted, self.done.load(Acquire), time);
        self.wanted.load(Acquire)
    }

    /// The thread has answered a request.
    pub(super) fn answer(&self, number: u32) {
        self.done.store(number, Release);
        own_thread::wake(&self.done);
    }

    /// The process comes to its end: the last figures.
    pub(super) fn measure_last(&self) {
        if !self.runs.load(Acquire) || own_thread::main_has_ended() {
            return;
        }
        let (number, begun) = (self.request(), monotonic());
        loop {
            let done = self.done.load(Acquire);
            let patience = if self.malloc.is_under_way() { PATIENCE_FOR_LOCKS } else { PATIENCE };
            let waited = monotonic().saturating_sub(begun);
            if done == number || waited > patience || !self.runs.load(Acquire) {
                return;
            }
            own_thread::wait(&self.done, done, LOOK);
        }
    }

    /// The figures of now. On a thread of ours only.
    pub(super) fn measure(&self, target: &Target, elapsed: Duration) -> MemoryFigures {
        let mut figures = MemoryFigures::new(elapsed);
        let runtime = self.domains.measure(&target.runtime, &mut figures);
        process::measure(&target.session, &runtime, &mut figures);
        self.malloc.measure(&mut figures);
        figures
    }
}
