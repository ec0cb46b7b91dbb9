//! All tracked blocks, for who looks at them in a frozen copy of the process.

use std::ops::Range;

use crate::table::TABLE;
use crate::tracker::Tracker;
use crate::units::Address;

/// Runs something while no thread can track a block or free a tracked one: the process is copied then, whose copy
/// finds the table whole.
///
/// What runs must not allocate or free blocks that are tracked. `None`: a thread does not let go of the table, which may
/// be this one, interrupted by a signal.
pub fn holding_tracked<R>(run: impl FnOnce() -> R) -> Option<R> {
    if !TABLE.try_acquire_all() {
        return None;
    }
    let result = run();
    // SAFETY: they were locked above in this thread.
    unsafe { TABLE.release_all() };
    Some(result)
}

/// Gives a function each tracked block of a tracker's, with its data, and the ranges of memory in which these addresses
/// are noted.
///
/// # Safety
/// This is a frozen copy of a process, made while [`holding_tracked`] ran.
pub unsafe fn each_tracked<T: Tracker>(
    mut see: impl FnMut(Address, &T::Data),
) -> Vec<Range<usize>> {
    // SAFETY: as the caller promises.
    unsafe {
        TABLE.each_unlocked(|address, data| {
            if let Some(data) = data.downcast_ref() {
                see(address, data);
            }
        });
        TABLE.memory_unlocked().collect()
    }
}
