//! Functions before those of the allocator that free a block, or change its size.

use std::ffi::c_void;

use memtrail_agent::native::{
    Address, Bytes, Registers, Source, allocated, counted, freed, may_be_tracked, reallocated,
    reallocating, will_not_be_allocated,
};

use crate::next;

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe {
        if may_be_tracked(Address(block.addr())) {
            return free_tracked(block);
        }
        next::free(block);
    }
}

/// # Safety
/// As `free`, of a block that may be tracked.
#[cold]
#[inline(never)]
pub(crate) unsafe extern "C" fn free_tracked(block: *mut c_void) {
    freed(Address(block.addr()));
    // SAFETY: as the caller promises.
    unsafe { next::free(block) };
}

/// C23's, which newer versions of libc have.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_sized(block: *mut c_void, _size: usize) {
    // SAFETY: as the caller promises.
    unsafe { free(block) };
}

/// C23's, which newer versions of libc have.
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_aligned_sized(block: *mut c_void, _alignment: usize, _size: usize) {
    // SAFETY: as the caller promises.
    unsafe { free(block) };
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: as the caller promises.
    unsafe {
        if may_be_tracked(Address(block.addr())) {
            return tracked(block, size);
        }
        if counted(Bytes(size as u64)) {
            return looked_at(block, size);
        }
        next::realloc(block, size)
    }
}

/// # Safety
/// As `realloc`, of a block that may be tracked.
#[cold]
#[inline(never)]
unsafe extern "C" fn tracked(block: *mut c_void, size: usize) -> *mut c_void {
    let before = reallocating(Address(block.addr()));
    // SAFETY: as the caller promises.
    let moved = unsafe { next::realloc(block, size) };
    if let Some(before) = before {
        let address = (!moved.is_null()).then(|| Address(moved.addr()));
        reallocated(before, address, Bytes(size as u64), &Registers::here());
    }
    moved
}

/// # Safety
/// As `realloc`, of a block that is not tracked.
#[cold]
#[inline(never)]
unsafe extern "C" fn looked_at(block: *mut c_void, size: usize) -> *mut c_void {
    let source = if block.is_null() { Source::Allocated } else { Source::Reallocated };
    // SAFETY: as the caller promises.
    let moved = unsafe { next::realloc(block, size) };
    if moved.is_null() {
        will_not_be_allocated(Bytes(size as u64));
    } else {
        allocated(Address(moved.addr()), Bytes(size as u64), source, &Registers::here());
    }
    moved
}
