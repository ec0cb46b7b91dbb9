//! Figures of the memory that a piece of code uses, for tests.
//!
//! The test's program needs [`Alloc`](crate::Alloc) as its global allocator.
//!
//! ```
//! use memtrail_sampler::{Alloc, Bytes, assert_max_live, testing};
//!
//! #[global_allocator]
//! static ALLOCATOR: Alloc = Alloc::system();
//!
//! let sum: u64 = assert_max_live!(Bytes(10_000), {
//!     let numbers: Vec<u64> = (0..1000).collect();
//!     numbers.iter().sum()
//! });
//! assert_eq!(sum, 499_500);
//!
//! let (kept, usage) = testing::measure(|| vec![1_u8; 100]);
//! assert_eq!((usage.live.blocks, usage.live.bytes), (1, Bytes(100)));
//! drop(kept);
//! ```

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::profile::start;
use crate::rate::Rate;
use crate::tracker::{Allocation, Tracker};
use crate::units::Bytes;

/// A number of blocks and their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Blocks.
    pub blocks: u64,
    /// Bytes that the program asked for.
    pub bytes: Bytes,
}

/// What some code allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// In all. A block counts again when its size is changed.
    pub allocated: Amount,
    /// When most bytes were live.
    pub peak: Amount,
    /// What was not freed by the time that the code returned: its result, and what leaked.
    pub live: Amount,
}

/// Runs some code and counts exactly what this thread allocates meanwhile. Blocks may be freed by any thread.
///
/// Code that is measured by several threads takes turns.
///
/// # Panics
/// If a profile is running already.
pub fn measure<R>(run: impl FnOnce() -> R) -> (R, Usage) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let meter = Meter { thread: thread::current().id(), usage: Mutex::default() };
    let profile = start(Rate::EXACT, 0, meter).expect("no other profile is running");
    let result = run();
    (result, profile.stop().usage.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Counts what one thread allocates.
struct Meter {
    thread: ThreadId,
    usage: Mutex<Usage>,
}

impl Meter {
    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Amount {
    fn add(&mut self, bytes: Bytes) {
        self.blocks += 1;
        self.bytes.0 += bytes.0;
    }

    fn subtract(&mut self, bytes: Bytes) {
        self.blocks -= 1;
        self.bytes.0 -= bytes.0;
    }
}

impl Tracker for Meter {
    type Data = Bytes;

    fn allocated(&self, allocation: &Allocation<'_>) -> Option<Bytes> {
        if thread::current().id() != self.thread {
            return None;
        }
        let mut usage = self.usage();
        usage.allocated.add(allocation.size());
        usage.live.add(allocation.size());
        if usage.live.bytes > usage.peak.bytes {
            usage.peak = usage.live;
        }
        Some(allocation.size())
    }

    fn freed(&self, size: Bytes) {
        self.usage().live.subtract(size);
    }
}

/// Runs some code, gives its result, and panics if this thread had more than so many bytes live at once that were
/// allocated meanwhile.
#[macro_export]
macro_rules! assert_max_live {
    ($limit:expr, $code:expr) => {{
        let limit: $crate::Bytes = $limit;
        let (result, usage) = $crate::testing::measure(|| $code);
        let peak = usage.peak;
        assert!(
            peak.bytes <= limit,
            "{} bytes in {} blocks were live at once, more than {}",
            peak.bytes.0,
            peak.blocks,
            limit.0
        );
        result
    }};
}

/// Runs some code, gives its result, and panics if more than so many bytes that this thread allocated meanwhile were
/// not freed; the memory of the result counts.
#[macro_export]
macro_rules! assert_max_leaked {
    ($limit:expr, $code:expr) => {{
        let limit: $crate::Bytes = $limit;
        let (result, usage) = $crate::testing::measure(|| $code);
        let live = usage.live;
        assert!(
            live.bytes <= limit,
            "{} bytes in {} blocks were not freed, more than {}",
            live.bytes.0,
            live.blocks,
            limit.0
        );
        result
    }};
}
