//! What happens at an allocation, a reallocation and a deallocation.
//!
//! An allocator calls [`allocated`] right after it has allocated a block, and [`freed`] right before it
//! frees one. At a reallocation it calls [`reallocating`] before and [`Reallocating::done`] after.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::callstack::Frames;
use crate::labels::Labels;
use crate::pending;
use crate::profile::InUse;
use crate::table::{TABLE, Tracked};
use crate::thread::{self, Suspension};
use crate::tracker::{Allocation, Source};
use crate::units::{Address, Bytes};

/// A block was allocated.
#[inline]
pub fn allocated(address: Address, size: Bytes, source: Source) {
    if thread::count(size) {
        look(address, size, source, None);
    }
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
        if thread::count(size) || self.tracked.is_some() {
            look(address, size, Source::Reallocated, self.tracked);
        }
    }

    /// The block is as it was.
    pub fn failed(self) {
        if let Some(tracked) = self.tracked {
            track(self.address, tracked);
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
fn look(address: Address, size: Bytes, source: Source, before: Option<Tracked>) {
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
    let here = 0_u8;
    let frames = Frames::capture(profile.callstack_size, std::ptr::from_ref(&here).addr());
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
    if let Ok(Some(data)) = data {
        track(address, Tracked { data, generation: profile.drawn.generation });
    }
    run_pending_in_callback(&in_use);
}

#[cold]
#[inline(never)]
fn untrack(address: Address) {
    let Some(tracked) = TABLE.remove(address) else { return };
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

fn track(address: Address, tracked: Tracked) {
    // A block for which there is no room is not tracked.
    let refused = TABLE.insert(address, tracked).err();
    let _suspended = Suspension::begin();
    drop(refused);
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
