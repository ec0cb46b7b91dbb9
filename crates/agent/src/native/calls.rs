//! What the functions before those of the allocator call when there is something to do.
//!
//! All of it runs on the thread's private stack, and leaves `errno` as it was.

use memtrail_sampler::events::{self, Reallocating};
use memtrail_sampler::{Address, Bytes, Registers, Source};

use crate::native::measure;
use crate::os::errno::keeping_errno;
use crate::os::ffi_guard::{guarded, is_stopped};

/// Whether samples are drawn. Without a recording, nothing else is to be called.
pub fn is_recorded() -> bool {
    events::is_profiled()
}

pub(super) fn called<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    guarded(otherwise, || keeping_errno(work))
}

/// A block was allocated which [`counted`](events::counted) asked for, by a function that the program called.
pub fn allocated(address: Address, size: Bytes, source: Source, function: &Registers) {
    if is_stopped() {
        events::forget_counted();
    } else if is_recorded() {
        called((), || {
            events::allocated_counted(address, size, source, function);
            measure::measure_if_due(function);
        });
    } else {
        events::allocated_counted(address, size, source, function);
    }
}

/// The allocator had no memory for the block which [`counted`](events::counted) asked for.
pub fn will_not_be_allocated(size: Bytes) {
    events::not_allocated(size);
}

/// A block that may be tracked is about to be freed.
pub fn freed(address: Address) {
    called((), || events::freed(address));
}

/// The size of a block that may be tracked is about to change.
pub fn reallocating(address: Address) -> Option<Reallocating> {
    called(None, || Some(events::reallocating(address)))
}

/// It was changed; without an address, the block was freed if the size is 0, and else is as it was.
pub fn reallocated(
    block: Reallocating,
    address: Option<Address>,
    size: Bytes,
    function: &Registers,
) {
    called((), || match address {
        Some(address) => block.done_in(address, size, function),
        None if size == Bytes(0) => block.freed(),
        None => block.failed(),
    });
}
