//! What happens at an allocation, a reallocation and a deallocation.
//!
//! An allocator calls [`allocated`] right after it has allocated a block, and [`freed`] right before it
//! frees one. At a reallocation it calls [`reallocating`] before and [`Reallocating::done`] after.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::callstack::{Frames, Registers};
use crate::labels::Labels;
use crate::pending;
use crate::probes;
use crate::profile::InUse;
use crate::table::{TABLE, Tracked};
use crate::thread::{self, Suspension};
use crate::tracker::{Allocation, Source};
use crate::units::{Address, Bytes, Samples};

/// A block was allocated.
#[inline]
pub fn allocated(address: Address, size: Bytes, source: Source) {
    if counted(size) {
        look(address, size, source, None, &Registers::here());
    }
}

/// Counts bytes that are about to be allocated. `true` if it must be looked at the block: with [`allocated_counted`]
/// after the allocation, or [`not_allocated`].
///
/// With this an allocator can leave its usual allocations to another one's function, to which it jumps.
#[inline]
pub fn counted(size: Bytes) -> bool {
    thread::count(size)
}

/// Whether something has bytes counted in this thread: whether it allocates by functions that count.
pub fn counts(run: impl FnOnce()) -> bool {
    let before = thread::left();
    run();
    thread::left() != before
}

/// The bytes that [`counted`] has counted are no one's: the next block at which must be looked is some way off.
pub fn forget_counted() {
    thread::forget_counted();
}

/// Draws whether memory is sampled that is not tracked here, and if so gives the samples and its callstack, the innermost
/// frame first, to a function.
pub fn drawn<R>(
    size: Bytes,
    function: &Registers,
    use_it: impl FnOnce(Samples, &[Address]) -> R,
) -> Option<R> {
    if !counted(size) || thread::is_suspended() {
        return None;
    }
    let Some(in_use) = InUse::begin() else {
        thread::forget_counted();
        return None;
    };
    let profile = in_use.profile();
    let samples = thread::draw(profile.drawn, size, || profile.next_seed());
    if samples.0 == 0 {
        return None;
    }
    let _suspended = Suspension::begin();
    let mut frames = Frames::up_to(profile.callstack_size);
    frames.capture(function);
    Some(use_it(samples, frames.callstack().frames()))
}

/// A block was allocated, at which must be looked as [`counted`] said. Its callstack begins with the caller of the
/// function that has these registers, which may be on another stack than this call.
pub fn allocated_counted(address: Address, size: Bytes, source: Source, function: &Registers) {
    look(address, size, source, None, function);
}

/// A block was not allocated, at which had to be looked as [`counted`] said.
pub fn not_allocated(size: Bytes) {
    thread::uncount(size);
}

/// Whether a block may be tracked: whether [`freed`] does anything.
#[inline]
pub fn may_be_tracked(address: Address) -> bool {
    TABLE.may_contain(address)
}

/// Whether a profile is running.
pub fn is_profiled() -> bool {
    InUse::is_possible()
}

/// A block is about to be freed.
#[inline]
pub fn freed(address: Address) {
    if TABLE.may_contain(address) {
        untrack(address);
    }
}

/// The size of a block is about to change.
#[inline]
pub fn reallocating(address: Address) -> Reallocating {
    let tracked = if TABLE.may_contain(address) { TABLE.remove(address) } else { None };
    Reallocating { address, tracked }
}

/// A block while its size changes: its address may be another's by then.
#[must_use = "the block is not tracked otherwise"]
pub struct Reallocating {
    address: Address,
    tracked: Option<Tracked>,
}

impl std::fmt::Debug for Reallocating {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reallocating").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Reallocating {
    /// It is now at this address and has this size.
    #[inline]
    pub fn done(self, address: Address, size: Bytes) {
        self.done_in(address, size, &Registers::here());
    }

    /// The same with a callstack that begins with the caller of the function that has these registers.
    #[inline]
    pub fn done_in(self, address: Address, size: Bytes, function: &Registers) {
        if self.tracked.is_some() {
            probes::freed(self.address);
        }
        if thread::count(size) || self.tracked.is_some() {
            look(address, size, Source::Reallocated, self.tracked, function);
        }
    }

    /// It was freed.
    pub fn freed(self) {
        if let Some(tracked) = self.tracked {
            probes::freed(self.address);
            report(tracked);
        }
    }

    /// The block is as it was.
    pub fn failed(self) {
        if let Some(tracked) = self.tracked
            && !track(self.address, tracked)
        {
            probes::freed(self.address);
        }
    }
}

/// Runs something without sampling in this thread: the program's own use of what a tracker locks.
pub fn suspended<R>(run: impl FnOnce() -> R) -> R {
    let suspension = Suspension::begin();
    let result = run();
    drop(suspension);
    if !thread::is_suspended() {
        run_pending();
    }
    result
}

/// Runs the callbacks of blocks that were freed in suspended threads.
pub(crate) fn run_pending() {
    loop {
        let freed = {
            let _suspended = Suspension::begin();
            pending::take()
        };
        if freed.is_empty() {
            return;
        }
        let Some(in_use) = InUse::begin() else {
            let _suspended = Suspension::begin();
            drop(freed);
            return;
        };
        let _suspended = Suspension::begin();
        for tracked in freed {
            report_freed(&in_use, tracked);
        }
    }
}

/// Draws whether a block is sampled. `before` is what was known of the block that it was.
#[cold]
#[inline(never)]
fn look(
    address: Address,
    size: Bytes,
    source: Source,
    before: Option<Tracked>,
    function: &Registers,
) {
    if thread::is_suspended() {
        if let Some(tracked) = before {
            pending::push(tracked);
        }
        return;
    }
    let Some(in_use) = InUse::begin() else {
        let suspension = Suspension::begin();
        drop(before);
        drop(suspension);
        thread::forget_counted();
        return;
    };
    let profile = in_use.profile();
    let samples = thread::draw(profile.drawn, size, || profile.next_seed());
    let before = before.filter(|tracked| tracked.generation == profile.drawn.generation);
    if samples.0 == 0 && before.is_none() {
        return;
    }
    let _suspended = Suspension::begin();
    if samples.0 == 0 {
        if let Some(tracked) = before {
            report_freed(&in_use, tracked);
        }
        return;
    }
    let mut frames = Frames::up_to(profile.callstack_size);
    frames.capture(function);
    let allocation = Allocation {
        samples,
        size,
        source,
        callstack: frames.callstack(),
        labels: Labels::of_thread(),
    };
    let data = catch_unwind(AssertUnwindSafe(|| match before {
        Some(tracked) => profile.reallocated(tracked.data, &allocation),
        None => profile.allocated(&allocation),
    }));
    if let Ok(Some(data)) = data
        && track(address, Tracked { data, generation: profile.drawn.generation })
    {
        probes::allocated(address, size, profile.drawn);
    }
    run_pending_in_callback(&in_use);
}

#[cold]
#[inline(never)]
fn untrack(address: Address) {
    if let Some(tracked) = TABLE.remove(address) {
        probes::freed(address);
        report(tracked);
    }
}

/// A tracked block was freed, and is not in the table any more.
fn report(tracked: Tracked) {
    if thread::is_suspended() {
        pending::push(tracked);
        return;
    }
    let _suspended = Suspension::begin();
    if let Some(in_use) = InUse::begin() {
        report_freed(&in_use, tracked);
        run_pending_in_callback(&in_use);
    }
}

/// Whether the block is tracked: one for which there is no room is not.
fn track(address: Address, tracked: Tracked) -> bool {
    match TABLE.insert(address, tracked) {
        Ok(None) => true,
        Ok(Some(other)) => {
            // Its memory was freed past the functions that tell of it.
            probes::freed(address);
            let _suspended = Suspension::begin();
            pending::push(other);
            true
        }
        Err(refused) => {
            let _suspended = Suspension::begin();
            drop(refused);
            false
        }
    }
}

/// The callbacks of what callbacks freed.
fn run_pending_in_callback(in_use: &InUse) {
    loop {
        let freed = pending::take();
        if freed.is_empty() {
            return;
        }
        for tracked in freed {
            report_freed(in_use, tracked);
        }
    }
}

fn report_freed(in_use: &InUse, tracked: Tracked) {
    let profile = in_use.profile();
    if tracked.generation == profile.drawn.generation {
        // A callback that panics has been called.
        let _ = catch_unwind(AssertUnwindSafe(|| profile.freed(tracked.data)));
    }
}
