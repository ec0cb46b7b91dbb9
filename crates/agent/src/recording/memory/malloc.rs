//! What glibc's `malloc` counts (`mallinfo(3)`).

use std::ffi::c_void;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

use memtrail_heap::Bytes;
use memtrail_recording::memory::{Figure, MemoryFigures};

use crate::os::symbol::symbol;

type Mallinfo = unsafe extern "C" fn() -> libc::mallinfo2;

/// Its function.
pub(crate) struct Malloc {
    /// Null before glibc 2.33.
    function: *mut c_void,
    /// Whether it is called just now.
    under_way: AtomicBool,
}

// SAFETY: the address of a function that may be called on any thread.
unsafe impl Send for Malloc {}
// SAFETY: as above.
unsafe impl Sync for Malloc {}

impl Malloc {
    pub(crate) fn find() -> Self {
        Self { function: symbol("mallinfo2"), under_way: AtomicBool::new(false) }
    }

    /// Whether it is called just now, and may wait for a lock.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.load(Acquire)
    }

    /// Adds its figures. Waits for the locks of all arenas, one by one: on a thread of the program's only
    /// where that holds none itself.
    pub(crate) fn measure(&self, figures: &mut MemoryFigures) {
        if self.function.is_null() {
            return;
        }
        self.under_way.store(true, Release);
        // SAFETY: glibc declares it with this type, and it may be called on any thread.
        let info = unsafe { std::mem::transmute::<*mut c_void, Mallinfo>(self.function)() };
        self.under_way.store(false, Release);
        for (figure, bytes) in [
            (Figure::ArenasUsed, info.uordblks),
            (Figure::ArenasFree, info.fordblks),
            (Figure::MallocMapped, info.hblkhd),
        ] {
            figures.set(figure, Bytes(bytes as u64));
        }
    }
}
