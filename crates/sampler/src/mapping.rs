//! Memory from the kernel, for tables that the allocator's own functions use.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::units::Bytes;

static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// What this crate has got from the kernel for its tables, be it written to or not.
pub fn memory_of_tables() -> Bytes {
    Bytes(MAPPED.load(Relaxed) as u64)
}

/// An array of zeroed slots in pages of its own.
///
/// It does not drop what was stored in the slots.
#[derive(Debug)]
pub(crate) struct Mapping<T> {
    base: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its memory, as a box does.
unsafe impl<T: Send> Send for Mapping<T> {}

/// A type of which zeroed memory is a value.
///
/// # Safety
/// All bytes zero must be a valid value.
pub(crate) unsafe trait Zeroed {}

impl<T: Zeroed> Mapping<T> {
    /// No slots, no memory.
    pub(crate) const fn empty() -> Self {
        Self { base: NonNull::dangling(), len: 0 }
    }

    /// So many slots; `None` without memory.
    pub(crate) fn new(len: usize) -> Option<Self> {
        let bytes = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes != 0)?;
        // SAFETY: a new anonymous mapping touches no memory that is in use.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        MAPPED.fetch_add(bytes, Relaxed);
        Some(Self { base: NonNull::new(base.cast())?, len })
    }

    pub(crate) fn slots(&self) -> &[T] {
        // SAFETY: the mapping has `len` slots, zeroed or written since, and zeroed memory is a value.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }

    pub(crate) fn slots_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `slots`; the borrow is the only one.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }
}

impl<T> Drop for Mapping<T> {
    fn drop(&mut self) {
        if self.len != 0 {
            MAPPED.fetch_sub(self.len * size_of::<T>(), Relaxed);
            // SAFETY: the mapping is ours and of this size, and nobody borrows from it.
            unsafe { libc::munmap(self.base.as_ptr().cast(), self.len * size_of::<T>()) };
        }
    }
}
