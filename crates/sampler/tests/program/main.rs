//! Programs with the sampler as their allocator. One profile runs at a time, so the tests take turns.

mod callbacks;
mod fork;
mod labels;
mod lifetimes;
mod threads;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use memtrail_sampler::{Alloc, Allocation, Source, Tracker};

#[global_allocator]
static ALLOCATOR: Alloc = Alloc::system();

/// One test at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An event, as [`Log`] notes it. The number is given to a block at its allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Allocated { number: u64, size: u64, samples: u64, source: Source },
    Reallocated { number: u64, size: u64, samples: u64 },
    Freed { number: u64 },
}

/// Notes all events of the blocks of the thread that made it, if they have at least a given size.
struct Log {
    least: u64,
    thread: ThreadId,
    events: Mutex<(u64, Vec<Event>)>,
}

impl Log {
    fn of_blocks_from(least: u64) -> Self {
        Self { least, thread: thread::current().id(), events: Mutex::default() }
    }

    fn into_events(self) -> Vec<Event> {
        self.events.into_inner().unwrap().1
    }
}

impl Tracker for Log {
    type Data = u64;

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<u64> {
        let size = allocation.size().0;
        if size < self.least || thread::current().id() != self.thread {
            return None;
        }
        let mut log = self.events.lock().unwrap();
        let number = log.0;
        log.0 += 1;
        let (samples, source) = (allocation.n_samples().0, allocation.source());
        log.1.push(Event::Allocated { number, size, samples, source });
        Some(number)
    }

    fn reallocated(&self, number: u64, allocation: &Allocation<'_>) -> Option<u64> {
        let (size, samples) = (allocation.size().0, allocation.n_samples().0);
        self.events.lock().unwrap().1.push(Event::Reallocated { number, size, samples });
        Some(number)
    }

    fn freed(&self, number: u64) {
        self.events.lock().unwrap().1.push(Event::Freed { number });
    }
}
