//! Functions before those of the allocator that allocate a block.
//!
//! Each counts the bytes, and jumps to the allocator's own function unless the block may be sampled. What is called
//! otherwise has the ABI of C, by which it does not unwind: so there is no frame. `reallocarray`
//! and C++'s `operator new` are not here: libc's and libstdc++'s call `realloc` and `malloc`.

use std::ffi::{c_int, c_void};

use memtrail_agent::native::{
    Address, Bytes, Registers, Source, allocated, counted, will_not_be_allocated,
};

use crate::next;

const fn bytes(size: usize) -> Bytes {
    Bytes(size as u64)
}

/// Allocates a block which may be sampled, by a function of the allocator's.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "the frame is that of the function which the program called"
)]
fn look(size: usize, source: Source, allocate: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let block = allocate();
    if block.is_null() {
        will_not_be_allocated(bytes(size));
    } else {
        allocated(Address(block.addr()), bytes(size), source, &Registers::here());
    }
    block
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    #[cold]
    #[inline(never)]
    extern "C" fn looked_at(size: usize) -> *mut c_void {
        // SAFETY: any size.
        look(size, Source::Allocated, || unsafe { next::malloc(size) })
    }
    if counted(bytes(size)) {
        return looked_at(size);
    }
    // SAFETY: as the caller promises.
    unsafe { next::malloc(size) }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    #[cold]
    #[inline(never)]
    extern "C" fn looked_at(count: usize, size: usize) -> *mut c_void {
        // SAFETY: any numbers.
        look(count.wrapping_mul(size), Source::Zeroed, || unsafe { next::calloc(count, size) })
    }
    // Where the product is too large, nothing is allocated.
    if counted(bytes(count.wrapping_mul(size))) {
        return looked_at(count, size);
    }
    // SAFETY: as the caller promises.
    unsafe { next::calloc(count, size) }
}

macro_rules! aligned {
    ($name:ident($($alignment:ident)?)) => {
        /// # Safety
        /// As libc's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($alignment: usize,)? size: usize) -> *mut c_void {
            #[cold]
            #[inline(never)]
            extern "C" fn looked_at($($alignment: usize,)? size: usize) -> *mut c_void {
                // SAFETY: any numbers.
                look(size, Source::Allocated, || unsafe { next::$name($($alignment,)? size) })
            }
            if counted(bytes(size)) {
                return looked_at($($alignment,)? size);
            }
            // SAFETY: as the caller promises.
            unsafe { next::$name($($alignment,)? size) }
        }
    };
}

aligned!(memalign(alignment));
aligned!(aligned_alloc(alignment));
aligned!(valloc());
aligned!(pvalloc());

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(
    into: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    #[cold]
    #[inline(never)]
    unsafe extern "C" fn looked_at(into: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
        let mut error = 0;
        look(size, Source::Allocated, || {
            // SAFETY: as the caller promises; the block is there if there is no error.
            unsafe {
                error = next::posix_memalign(into, alignment, size);
                if error == 0 { *into } else { std::ptr::null_mut() }
            }
        });
        error
    }
    // SAFETY: as the caller promises.
    unsafe {
        if counted(bytes(size)) {
            return looked_at(into, alignment, size);
        }
        next::posix_memalign(into, alignment, size)
    }
}
