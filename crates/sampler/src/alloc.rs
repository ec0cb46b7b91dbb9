//! The global allocator of programs that are profiled.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::events;
use crate::tracker::Source;
use crate::units::{Address, Bytes};

/// Any allocator, its allocations sampled while a profile is running.
///
/// ```
/// use memtrail_sampler::Alloc;
///
/// #[global_allocator]
/// static ALLOCATOR: Alloc = Alloc::system();
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Alloc<A = System>(A);

impl Alloc {
    /// On top of the system's allocator.
    pub const fn system() -> Self {
        Self(System)
    }
}

impl<A> Alloc<A> {
    /// On top of another allocator.
    pub const fn new(allocator: A) -> Self {
        Self(allocator)
    }
}

// SAFETY: all memory is the inner allocator's, which is one. What is done besides changes no block, does not
// unwind, and what it allocates itself comes after the inner function has returned.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Alloc<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let block = unsafe { self.0.alloc(layout) };
        note(block, layout.size(), Source::Allocated);
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let block = unsafe { self.0.alloc_zeroed(layout) };
        note(block, layout.size(), Source::Zeroed);
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        events::freed(Address(block.addr()));
        // SAFETY: as the caller promises.
        unsafe { self.0.dealloc(block, layout) };
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let reallocating = events::reallocating(Address(block.addr()));
        // SAFETY: as the caller promises.
        let moved = unsafe { self.0.realloc(block, layout, size) };
        if moved.is_null() {
            reallocating.failed();
        } else {
            reallocating.done(Address(moved.addr()), Bytes(size as u64));
        }
        moved
    }
}

#[inline]
fn note(block: *mut u8, size: usize, source: Source) {
    if !block.is_null() {
        events::allocated(Address(block.addr()), Bytes(size as u64), source);
    }
}
