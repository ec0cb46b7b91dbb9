//! What the operators of C++'s own library do: they call `malloc` and `free`. Here that is done without them.
//!
//! A program may replace some operators by its own, which those of the library call, then: so this is for programs that
//! replace none. Where there is no memory, the library's operator is called, which has the program's handler called, and throws.

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use memtrail_agent::native::{
    Address, Bytes, Registers, Source, allocated, counted, may_be_tracked, will_not_be_allocated,
};

use crate::operator_definitions::{DELETE, NEW, New};
use crate::{next, place, resize};

/// The allocator's `malloc`.
pub(crate) type Malloc = unsafe extern "C" fn(usize) -> *mut c_void;
/// The allocator's `free`.
pub(crate) type Free = unsafe extern "C" fn(*mut c_void);

/// `new` and `new[]`.
const NEW_OF_LIBRARY: usize = 2;
/// `delete` and `delete[]`, each without and with a size.
const DELETE_OF_LIBRARY: usize = 4;
/// C++'s libraries, of GCC and of LLVM.
const LIBRARIES: [&[u8]; 3] = [b"libstdc++.so.", b"libc++.so.", b"libc++abi.so."];

/// The allocator's functions, if the operators are those of the library: one load tells both.
static MALLOC: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static FREE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Finds out whether the program calls the library's operators, and these the functions of this library.
pub(crate) fn prepare() {
    let (new, delete) = (&NEW[..NEW_OF_LIBRARY], &DELETE[..DELETE_OF_LIBRARY]);
    let are_called = !next::is_bypassed()
        && new.iter().chain(delete).all(|operator| {
            let file = file_name(place::file_of(operator.address()));
            LIBRARIES.iter().any(|name| file.starts_with(name)) && next::is_called(operator.name)
        });
    if are_called {
        let [malloc, free] = next::malloc_and_free();
        MALLOC.store(malloc, Relaxed);
        FREE.store(free, Relaxed);
    }
}

fn file_name(path: &CStr) -> &[u8] {
    path.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// What an operator `new` calls if it is the library's, and is [`new`].
#[inline]
pub(crate) fn malloc(number: usize) -> Option<Malloc> {
    let address = if number < NEW_OF_LIBRARY { MALLOC.load(Relaxed) } else { null_mut() };
    // SAFETY: null, or the address of this function.
    unsafe { transmute::<*mut c_void, Option<Malloc>>(address) }
}

/// What an operator `delete` calls if it is the library's, and is [`delete`].
#[inline]
pub(crate) fn free(number: usize) -> Option<Free> {
    let address = if number < DELETE_OF_LIBRARY { FREE.load(Relaxed) } else { null_mut() };
    // SAFETY: null, or the address of this function.
    unsafe { transmute::<*mut c_void, Option<Free>>(address) }
}

const fn bytes(size: usize) -> Bytes {
    Bytes(size as u64)
}

/// An operator `new` without an alignment, which throws.
///
/// # Safety
/// `N` is its number.
#[inline]
pub(crate) unsafe fn new<const N: usize>(malloc: Malloc, size: usize) -> *mut c_void {
    let size = size.max(1);
    // SAFETY: as the caller promises; any size.
    unsafe {
        if counted(bytes(size)) {
            return looked_at::<N>(size);
        }
        let block = malloc(size);
        if block.is_null() {
            return without_memory::<N>(size);
        }
        block
    }
}

/// An operator `delete` without an alignment.
///
/// # Safety
/// As the operator's.
#[inline]
pub(crate) unsafe fn delete(free: Free, block: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe {
        if may_be_tracked(Address(block.addr())) {
            return resize::free_tracked(block);
        }
        free(block);
    }
}

#[cold]
#[inline(never)]
unsafe extern "C-unwind" fn looked_at<const N: usize>(size: usize) -> *mut c_void {
    // SAFETY: any size.
    let block = unsafe { next::malloc(size) };
    if block.is_null() {
        will_not_be_allocated(bytes(size));
        // SAFETY: as the caller promises.
        return unsafe { without_memory::<N>(size) };
    }
    allocated(Address(block.addr()), bytes(size), Source::Allocated, &Registers::here());
    block
}

#[cold]
#[inline(never)]
unsafe extern "C-unwind" fn without_memory<const N: usize>(size: usize) -> *mut c_void {
    // SAFETY: the address of this operator, which was found.
    unsafe { transmute::<*mut c_void, New>(NEW[N].address())(size, 0, 0) }
}
