//! Memory of our own, taken from the kernel: the target's allocator is not ours to disturb.
//!
//! In a frozen copy of the target ([`crate::snapshot`]) another thread's lock on it may be held for
//! ever. There memory comes from fresh mappings, and only what is large is given back.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use dlmalloc::GlobalDlmalloc;

pub(crate) struct Heap {
    frozen: AtomicBool,
    /// Where the next small block goes, and where its mapping ends.
    next: AtomicUsize,
    end: AtomicUsize,
}

/// Bytes taken at once for small blocks.
const CHUNK: usize = 1 << 20;
/// From this size on a block has a mapping of its own.
const LARGE: usize = 1 << 18;
const PAGE: usize = 4096;

impl Heap {
    pub(crate) const fn new() -> Self {
        Self { frozen: AtomicBool::new(false), next: AtomicUsize::new(0), end: AtomicUsize::new(0) }
    }

    /// From now on this process is a frozen copy, with one thread.
    pub(crate) fn freeze(&self) {
        self.frozen.store(true, Relaxed);
    }

    fn carve(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= LARGE {
            return if layout.align() <= PAGE { map(layout.size()) } else { std::ptr::null_mut() };
        }
        let at = self.next.load(Relaxed).next_multiple_of(layout.align());
        if at + layout.size() <= self.end.load(Relaxed) {
            self.next.store(at + layout.size(), Relaxed);
            return at as *mut u8;
        }
        let chunk = map(CHUNK) as usize;
        if chunk == 0 || layout.align() > PAGE {
            return std::ptr::null_mut();
        }
        self.next.store(chunk + layout.size(), Relaxed);
        self.end.store(chunk + CHUNK, Relaxed);
        chunk as *mut u8
    }
}

fn map(bytes: usize) -> *mut u8 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh mapping, which overlaps nothing.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
    if at == libc::MAP_FAILED { std::ptr::null_mut() } else { at.cast() }
}

/// Whether a block has a mapping of its own; those of the usual allocator never begin a page.
fn is_mapped(block: *mut u8, bytes: usize) -> bool {
    bytes >= LARGE && (block as usize).is_multiple_of(PAGE)
}

// SAFETY: blocks come from the usual allocator, or from fresh memory that is handed out once; frozen
// copies have one thread.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.frozen.load(Relaxed) {
            return self.carve(layout);
        }
        // SAFETY: the caller's layout.
        unsafe { GlobalDlmalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if self.frozen.load(Relaxed) {
            return self.carve(layout);
        }
        // SAFETY: the caller's layout.
        unsafe { GlobalDlmalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !self.frozen.load(Relaxed) {
            // SAFETY: the caller's block.
            unsafe { GlobalDlmalloc.dealloc(block, layout) };
        } else if is_mapped(block, layout.size()) {
            // SAFETY: a mapping of its own, as large as that.
            unsafe { libc::munmap(block.cast(), layout.size()) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.frozen.load(Relaxed) {
            // SAFETY: the caller's block.
            return unsafe { GlobalDlmalloc.realloc(block, layout, size) };
        }
        if is_mapped(block, layout.size()) && size >= LARGE {
            // SAFETY: a mapping of its own, as large as that.
            let at = unsafe {
                libc::mremap(block.cast::<c_void>(), layout.size(), size, libc::MREMAP_MAYMOVE)
            };
            return if at == libc::MAP_FAILED { std::ptr::null_mut() } else { at.cast() };
        }
        // SAFETY: the caller's layout with another size, which the caller made sure is possible.
        let fresh = self.carve(unsafe { Layout::from_size_align_unchecked(size, layout.align()) });
        if !fresh.is_null() {
            // SAFETY: both are valid for so many bytes, and `fresh` is new.
            unsafe {
                fresh.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
        }
        fresh
    }
}
