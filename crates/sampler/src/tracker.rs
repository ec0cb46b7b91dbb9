//! What users of a profile implement: callbacks for sampled allocations.

use crate::callstack::Callstack;
use crate::labels::Labels;
use crate::units::{Bytes, Samples};

/// How a block was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// As memory with undefined contents.
    Allocated,
    /// As zeroed memory.
    Zeroed,
    /// By changing the size of another block, which counts as freed.
    Reallocated,
}

/// A sampled allocation.
#[derive(Clone, Copy, Debug)]
pub struct Allocation<'a> {
    pub(crate) samples: Samples,
    pub(crate) size: Bytes,
    pub(crate) source: Source,
    pub(crate) callstack: &'a Callstack,
    pub(crate) labels: Labels,
}

impl Allocation<'_> {
    /// How many of its bytes were sampled, at least 1.
    pub fn n_samples(&self) -> Samples {
        self.samples
    }

    /// Its size, as the program asked for it.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// How it was allocated.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Where it was allocated.
    pub fn callstack(&self) -> &Callstack {
        self.callstack
    }

    /// Calls a function for each [label](crate::label) of its thread, such as `request 17`, the innermost first.
    pub fn for_each_label(&self, see: impl FnMut(&str)) {
        self.labels.for_each(see);
    }
}

/// Callbacks for the sampled allocations of a profile, and for what becomes of them.
///
/// While a callback runs, nothing is sampled in its thread: callbacks may allocate. They run in the thread
/// that allocated or freed, inside of the allocator's function, so they must not wait for a lock that a
/// thread may have while it allocates; [`suspended`](crate::suspended) is for the code outside of
/// callbacks that shares a lock with them. A callback may come slightly after its event; the callstack is
/// that of the event in any case. A panic in a callback is caught, and ends the tracking of the block.
pub trait Tracker: Send + Sync + 'static {
    /// What is remembered of a block until it is freed.
    type Data: Send + 'static;

    /// A block was allocated. It is tracked if there is something to remember.
    fn allocated(&self, allocation: &Allocation<'_>) -> Option<Self::Data>;

    /// The size of a tracked block was changed, and the block that it became was sampled, too.
    ///
    /// As long as nothing else is defined, the one is freed and the other one is allocated.
    fn reallocated(&self, data: Self::Data, allocation: &Allocation<'_>) -> Option<Self::Data> {
        self.freed(data);
        self.allocated(allocation)
    }

    /// A tracked block was freed, or its size was changed and it is not sampled any more.
    fn freed(&self, data: Self::Data) {
        drop(data);
    }
}

/// Tracks nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullTracker;

impl Tracker for NullTracker {
    type Data = ();

    fn allocated(&self, _: &Allocation<'_>) -> Option<()> {
        None
    }
}
