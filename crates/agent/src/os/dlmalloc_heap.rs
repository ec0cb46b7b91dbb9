//! The usual allocator: Doug Lea's, on memory that is [known as ours](crate::os::own_memory), with a lock that forked children
//! can take.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ffi::{c_long, c_void};
use std::ptr::{null_mut, with_exposed_provenance_mut};

use dlmalloc::{Allocator, Dlmalloc};

use crate::os::own_memory;

const PAGE: usize = 4096;

/// Its memory: mappings, not by libc's functions, as ours may come before them.
struct Mappings;

/// The result of a system call that gives an address.
fn address(result: c_long) -> *mut u8 {
    if result == -1 { null_mut() } else { with_exposed_provenance_mut(result as usize) }
}

/// Fresh memory of the kernel's; null if it has none.
pub(super) fn map(size: usize) -> *mut u8 {
    let access = c_long::from(libc::PROT_READ | libc::PROT_WRITE);
    let flags = c_long::from(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let (none, no_file, offset): (_, c_long, c_long) = (null_mut::<c_void>(), -1, 0);
    // SAFETY: a fresh mapping touches no memory that is in use.
    address(unsafe { libc::syscall(libc::SYS_mmap, none, size, access, flags, no_file, offset) })
}

/// Gives memory of [`map`]'s back. True if the kernel took it.
pub(super) fn unmap(block: *mut u8, size: usize) -> bool {
    // SAFETY: memory of ours, which is not used any more.
    unsafe { libc::syscall(libc::SYS_munmap, block, size) == 0 }
}

// SAFETY: memory is the kernel's, fresh and of the size that is said.
unsafe impl Allocator for Mappings {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let at = map(size);
        if at.is_null() {
            return (at, 0, 0);
        }
        own_memory::add(at, size);
        (at, size, 0)
    }

    fn remap(&self, block: *mut u8, old: usize, new: usize, can_move: bool) -> *mut u8 {
        let flags = c_long::from(if can_move { libc::MREMAP_MAYMOVE } else { 0 });
        own_memory::remove(block, old);
        // SAFETY: a mapping of this allocator's, whose memory it moves with it.
        let moved = address(unsafe { libc::syscall(libc::SYS_mremap, block, old, new, flags) });
        let (at, size) = if moved.is_null() { (block, old) } else { (moved, new) };
        own_memory::add(at, size);
        moved
    }

    fn free_part(&self, block: *mut u8, old: usize, new: usize) -> bool {
        self.free(block.wrapping_add(new), old.saturating_sub(new))
    }

    fn free(&self, block: *mut u8, size: usize) -> bool {
        own_memory::remove(block, size);
        unmap(block, size)
    }

    fn can_release_part(&self, _: u32) -> bool {
        true
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        PAGE
    }
}

/// The allocator, and its lock.
struct Locked {
    lock: UnsafeCell<libc::pthread_mutex_t>,
    allocator: UnsafeCell<Dlmalloc<Mappings>>,
}

// SAFETY: the allocator is used by who has the lock.
unsafe impl Sync for Locked {}

static USUAL: Locked = Locked {
    lock: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
    allocator: UnsafeCell::new(Dlmalloc::new_with_allocator(Mappings)),
};

/// The lock, until it is dropped.
struct Guard;

extern "C" fn acquire() {
    // SAFETY: a mutex that is never moved.
    unsafe { libc::pthread_mutex_lock(USUAL.lock.get()) };
}

extern "C" fn release() {
    // SAFETY: locked by this thread, or by the one of which it is the forked copy.
    unsafe { libc::pthread_mutex_unlock(USUAL.lock.get()) };
}

impl Drop for Guard {
    fn drop(&mut self) {
        release();
    }
}

/// Uses the allocator, alone.
fn with<R>(use_it: impl FnOnce(&mut Dlmalloc<Mappings>) -> R) -> R {
    acquire();
    let _guard = Guard;
    // SAFETY: the lock is held.
    use_it(unsafe { &mut *USUAL.allocator.get() })
}

/// Forked children find the lock free. Called once, before anything is allocated.
pub(super) fn prepare() {
    // SAFETY: the library is never unloaded.
    unsafe { libc::pthread_atfork(Some(acquire), Some(release), Some(release)) };
}

/// # Safety
/// As `GlobalAlloc`'s.
pub(super) unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller promises.
    with(|allocator| unsafe { allocator.malloc(layout.size(), layout.align()) })
}

/// # Safety
/// As `GlobalAlloc`'s.
pub(super) unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller promises.
    with(|allocator| unsafe { allocator.calloc(layout.size(), layout.align()) })
}

/// # Safety
/// As `GlobalAlloc`'s.
pub(super) unsafe fn dealloc(block: *mut u8, layout: Layout) {
    // SAFETY: as the caller promises.
    with(|allocator| unsafe { allocator.free(block, layout.size(), layout.align()) });
}

/// # Safety
/// As `GlobalAlloc`'s.
pub(super) unsafe fn realloc(block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: as the caller promises.
    with(|allocator| unsafe { allocator.realloc(block, layout.size(), layout.align(), size) })
}

#[cfg(test)]
mod tests {
    use memtrail_recording::mappings::Mapping;

    use super::*;

    fn is_known(block: *mut u8) -> bool {
        own_memory::all().any(|area| area.contains(&(block.addr() as u64)))
    }

    fn is_mapped(at: u64) -> bool {
        let text = std::fs::read("/proc/self/maps").unwrap();
        let mut lines = text.split(|&byte| byte == b'\n').filter_map(Mapping::parse);
        lines.any(|mapping| mapping.addresses.contains(&at))
    }

    #[test]
    fn its_memory_is_known_as_ours() {
        let layout = |size| Layout::from_size_align(size, 16).unwrap();
        for size in [100, 100_000, 5 << 20, 300_000, 20 << 20, 64] {
            // SAFETY: blocks of this allocator's, with these sizes.
            unsafe {
                let block = alloc(layout(size));
                assert!(is_known(block) && is_known(block.add(size - 1)), "{size}");
                let larger = realloc(block, layout(size), 2 * size);
                assert!(is_known(larger) && is_known(larger.add(2 * size - 1)), "{size}");
                dealloc(larger, layout(2 * size));
            }
            for area in own_memory::all() {
                assert!(is_mapped(area.start) && is_mapped(area.end - 1), "{size}: {area:x?}");
            }
        }
    }
}
