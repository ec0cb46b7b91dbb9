//! Memory of our own, taken from the kernel: the target's allocator is not ours to disturb.
//!
//! In a frozen copy of the target (a snapshot's) another thread's lock on it may be held for
//! ever. There memory comes from fresh mappings, and only what is large is given back.
//!
//! Where the kernel gives no memory, our code is left at once ([`escape`]): Rust's collections would end
//! the process. Work that can go on without memory says so ([`may_fail`]).
//!
//! A signal handler of the program's may end the process while the thread it came to is inside the
//! allocator: what is needed then comes from memory that is set aside.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;
use std::sync::atomic::{
    AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst, compiler_fence,
};

use crate::os::{dlmalloc_heap, escape, own_memory, tls};

/// The allocator of the library.
#[derive(Debug)]
pub struct Heap;

/// Memory besides the usual allocator's.
struct Memory {
    /// Whether this process is a frozen copy.
    frozen: AtomicBool,
    /// In a frozen copy: where the next small block goes.
    next: AtomicUsize,
    /// In a frozen copy: where the mapping of small blocks ends.
    end: AtomicUsize,
    /// Memory for threads that were interrupted in the allocator.
    spare: AtomicUsize,
    /// How much of that is taken.
    spare_taken: AtomicUsize,
    /// Bytes of blocks of the usual allocator's.
    in_use: AtomicUsize,
    /// Memory that is given up when there is no other, so that a last note can be written; 0 if there is none.
    reserve: AtomicUsize,
}

static MEMORY: Memory = Memory {
    frozen: AtomicBool::new(false),
    next: AtomicUsize::new(0),
    end: AtomicUsize::new(0),
    spare: AtomicUsize::new(0),
    spare_taken: AtomicUsize::new(0),
    in_use: AtomicUsize::new(0),
    reserve: AtomicUsize::new(0),
};

/// Bytes of that memory; pages that are never touched take none.
const SPARE: usize = 16 << 20;

/// Bytes of the reserve, of which no page is touched.
const RESERVE: usize = 1 << 20;

/// Bytes taken at once for small blocks.
const CHUNK: usize = 1 << 20;
/// From this size on a block has a mapping of its own.
const LARGE: usize = 1 << 18;
const PAGE: usize = 4096;

/// Lets forked children allocate, which must not inherit a lock that is held.
///
/// # Safety
/// Called once, before anything is allocated.
pub(crate) unsafe fn prepare() {
    dlmalloc_heap::prepare();
}

/// Sets memory aside for a last note.
pub(crate) fn keep_reserve() {
    let at = dlmalloc_heap::map(RESERVE);
    if !at.is_null() {
        MEMORY.reserve.store(at as usize, Relaxed);
    }
}

/// Gives that memory back to the kernel, which then has some for us.
pub(crate) fn give_reserve_up() {
    let at = MEMORY.reserve.swap(0, Relaxed);
    if at != 0 {
        dlmalloc_heap::unmap(at as *mut u8, RESERVE);
    }
}

/// Runs `work`, which allocates by functions that can fail alone: it is not left if they do.
#[inline]
pub(crate) fn may_fail<T>(work: impl FnOnce() -> T) -> T {
    let slots = tls::slots();
    // SAFETY: the slots are this thread's.
    unsafe {
        let before = std::mem::replace(&mut (*slots).may_fail, true);
        let result = work();
        (*slots).may_fail = before;
        result
    }
}

/// A block for the caller. If there is none, the caller's work is left, unless it can go on without.
#[inline]
fn or_leave(block: *mut u8) -> *mut u8 {
    // SAFETY: the slots are this thread's.
    if block.is_null() && !unsafe { (*tls::slots()).may_fail } {
        escape::leave();
    }
    block
}

/// From now on this process is a frozen copy, with one thread.
pub(crate) fn lock_for_fork() {
    MEMORY.frozen.store(true, Relaxed);
}

/// Bytes of all blocks, without what the allocator needs itself.
pub(crate) fn in_use() -> usize {
    MEMORY.in_use.load(Relaxed)
}

/// Counts a block that the usual allocator gave, or did not have.
#[inline]
fn counted(block: *mut u8, bytes: usize) -> *mut u8 {
    if !block.is_null() {
        MEMORY.in_use.fetch_add(bytes, Relaxed);
    }
    block
}

/// From memory that is never given back.
#[cold]
fn take_spare(layout: Layout) -> *mut u8 {
    let mut base = MEMORY.spare.load(Relaxed);
    if base == 0 {
        let fresh = map(SPARE) as usize;
        let placed = MEMORY.spare.compare_exchange(0, fresh, Relaxed, Relaxed);
        base = placed.map_or_else(|other| other, |_| fresh);
    }
    let room = layout.size() + layout.align();
    let taken = MEMORY.spare_taken.fetch_add(room, Relaxed);
    if base == 0 || taken.saturating_add(room) > SPARE {
        return std::ptr::null_mut();
    }
    (base + taken).next_multiple_of(layout.align()) as *mut u8
}

fn is_spare(block: *mut u8) -> bool {
    (block as usize).wrapping_sub(MEMORY.spare.load(Relaxed)) < SPARE
}

fn carve(layout: Layout) -> *mut u8 {
    if layout.size() >= LARGE {
        return if layout.align() <= PAGE { map(layout.size()) } else { std::ptr::null_mut() };
    }
    let at = MEMORY.next.load(Relaxed).next_multiple_of(layout.align());
    if at + layout.size() <= MEMORY.end.load(Relaxed) {
        MEMORY.next.store(at + layout.size(), Relaxed);
        return at as *mut u8;
    }
    let chunk = map(CHUNK) as usize;
    if chunk == 0 || layout.align() > PAGE {
        return std::ptr::null_mut();
    }
    MEMORY.next.store(chunk + layout.size(), Relaxed);
    MEMORY.end.store(chunk + CHUNK, Relaxed);
    chunk as *mut u8
}

/// Runs `work` of the usual allocator, whose lock is this thread's already if a signal handler of the
/// program's interrupted it there: then not.
#[inline]
fn unless_interrupted<T>(work: impl FnOnce() -> T) -> Option<T> {
    let slots = tls::slots();
    // SAFETY: the slots are this thread's.
    unsafe {
        if (*slots).allocates {
            return None;
        }
        (&raw mut (*slots).allocates).write_volatile(true);
        compiler_fence(SeqCst);
        let result = work();
        compiler_fence(SeqCst);
        (&raw mut (*slots).allocates).write_volatile(false);
        Some(result)
    }
}

/// Whether this thread is in the usual allocator.
pub(crate) fn is_under_way() -> bool {
    // SAFETY: the slots are this thread's.
    unsafe { (&raw const (*tls::slots()).allocates).read_volatile() }
}

fn map(bytes: usize) -> *mut u8 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh mapping, which overlaps nothing.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
    if at == libc::MAP_FAILED {
        return std::ptr::null_mut();
    }
    own_memory::add(at.cast(), bytes);
    at.cast()
}

/// Whether a block has a mapping of its own; those of the usual allocator never begin a page.
fn is_mapped(block: *mut u8, bytes: usize) -> bool {
    bytes >= LARGE && (block as usize).is_multiple_of(PAGE)
}

// SAFETY: blocks come from the usual allocator, or from memory that has no other block at the time; frozen
// copies have one thread.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if MEMORY.frozen.load(Relaxed) {
            return or_leave(carve(layout));
        }
        // SAFETY: the caller's layout.
        let block = unless_interrupted(|| unsafe { dlmalloc_heap::alloc(layout) });
        let block = block.map(|block| counted(block, layout.size()));
        or_leave(block.unwrap_or_else(|| take_spare(layout)))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if MEMORY.frozen.load(Relaxed) {
            let block = carve(layout);
            if !block.is_null() && !is_mapped(block, layout.size()) {
                // A last block that was given back has left its contents here.
                // SAFETY: the block is this call's, and as large as that.
                unsafe { block.write_bytes(0, layout.size()) };
            }
            return or_leave(block);
        }
        // SAFETY: the caller's layout.
        let block = unless_interrupted(|| unsafe { dlmalloc_heap::alloc_zeroed(layout) });
        let block = block.map(|block| counted(block, layout.size()));
        or_leave(block.unwrap_or_else(|| take_spare(layout)))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_spare(block) {
            return;
        }
        if !MEMORY.frozen.load(Relaxed) {
            // In a thread that was interrupted in the allocator the block stays.
            // SAFETY: the caller's block.
            if unless_interrupted(|| unsafe { dlmalloc_heap::dealloc(block, layout) }).is_some() {
                MEMORY.in_use.fetch_sub(layout.size(), Relaxed);
            }
        } else if is_mapped(block, layout.size()) {
            own_memory::remove(block, layout.size());
            // SAFETY: a mapping of its own, as large as that.
            unsafe { libc::munmap(block.cast(), layout.size()) };
        } else if block as usize + layout.size() == MEMORY.next.load(Relaxed) {
            // The last block: what is made and dropped for each section or string takes its memory once.
            MEMORY.next.store(block as usize, Relaxed);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !MEMORY.frozen.load(Relaxed) && !is_spare(block) {
            // SAFETY: the caller's block.
            let work = || unsafe { dlmalloc_heap::realloc(block, layout, size) };
            if let Some(moved) = unless_interrupted(work) {
                if !moved.is_null() {
                    MEMORY.in_use.fetch_sub(layout.size(), Relaxed);
                }
                return or_leave(counted(moved, size));
            }
        }
        if is_mapped(block, layout.size()) && size >= LARGE {
            // SAFETY: a mapping of its own, as large as that.
            let at = unsafe {
                libc::mremap(block.cast::<c_void>(), layout.size(), size, libc::MREMAP_MAYMOVE)
            };
            if at == libc::MAP_FAILED {
                return or_leave(std::ptr::null_mut());
            }
            own_memory::remove(block, layout.size());
            own_memory::add(at.cast(), size);
            return at.cast();
        }
        // SAFETY: the caller's layout with another size, which the caller made sure is possible.
        let fresh = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
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
