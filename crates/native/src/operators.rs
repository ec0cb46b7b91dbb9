//! Functions before C++'s operators `new` and `delete`.
//!
//! libstdc++'s call `malloc` and `free`, which are counted there. Allocators such as jemalloc, tcmalloc and mimalloc have
//! operators of their own, which do not: [`prepare`] tries which ones are to be counted here. A program that
//! loads C++'s library while it runs finds these functions first, and no definition comes next; then memory is
//! from `malloc`, as libstdc++'s is.

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

use memtrail_agent::native::{
    Address, Bytes, Registers, Source, allocated, counted, counts, freed, may_be_tracked,
    will_not_be_allocated,
};

use crate::{allocate, next, resize};

/// An operator `new`: a size, then an alignment and `std::nothrow` if it takes them. All are passed in registers, and what
/// is not taken is passed on as it is.
type New = unsafe extern "C-unwind" fn(usize, usize, usize) -> *mut c_void;
/// An operator `delete`: a block, then its size, alignment and `std::nothrow` if it takes them.
type Delete = unsafe extern "C-unwind" fn(*mut c_void, usize, usize);

/// A definition after ours. Without an address it has not been looked for.
struct Definition {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Definition {
    const fn of(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(null_mut()) }
    }

    /// Its address, or that of what is called where there is none.
    fn find(&self, otherwise: *mut c_void) -> *mut c_void {
        // SAFETY: a C string; finds the definition after ours.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        let found = if found.is_null() { otherwise } else { found };
        self.address.store(found, Relaxed);
        found
    }
}

/// An operator `new`.
struct Allocating {
    definition: Definition,
    is_aligned: bool,
    throws: bool,
    /// The number of the operator that frees what this one allocates.
    freed_by: usize,
    /// Whether allocations are counted here, as nothing else counts them.
    is_counted: AtomicBool,
}

const fn allocating(
    name: &'static CStr,
    (is_aligned, throws): (bool, bool),
    freed_by: usize,
) -> Allocating {
    let is_counted = AtomicBool::new(false);
    Allocating { definition: Definition::of(name), is_aligned, throws, freed_by, is_counted }
}

fn next_new<const N: usize>() -> New {
    let known = NEW[N].definition.address.load(Relaxed);
    let address = if known.is_null() { found_new::<N>() } else { known };
    // SAFETY: the address of an operator `new`.
    unsafe { transmute::<*mut c_void, New>(address) }
}

fn next_delete<const N: usize>() -> Delete {
    let known = DELETE[N].address.load(Relaxed);
    let address = if known.is_null() { found_delete::<N>() } else { known };
    // SAFETY: the address of an operator `delete`.
    unsafe { transmute::<*mut c_void, Delete>(address) }
}

#[cold]
#[inline(never)]
fn found_new<const N: usize>() -> *mut c_void {
    NEW[N].definition.find(absent_new::<N> as *mut c_void)
}

#[cold]
#[inline(never)]
fn found_delete<const N: usize>() -> *mut c_void {
    DELETE[N].find(absent_delete as *mut c_void)
}

const fn bytes(size: usize) -> Bytes {
    Bytes(size as u64)
}

/// Bytes that were counted, and are not allocated if the operator throws or gives no block.
struct NotAllocated(Bytes);

impl Drop for NotAllocated {
    fn drop(&mut self) {
        will_not_be_allocated(self.0);
    }
}

#[cold]
#[inline(never)]
unsafe extern "C-unwind" fn looked_at<const N: usize>(
    size: usize,
    second: usize,
    third: usize,
) -> *mut c_void {
    let not_allocated = NotAllocated(bytes(size));
    // SAFETY: as the caller promises.
    let block = unsafe { next_new::<N>()(size, second, third) };
    if !block.is_null() {
        std::mem::forget(not_allocated);
        allocated(Address(block.addr()), bytes(size), Source::Allocated, &Registers::here());
    }
    block
}

/// Where no definition comes next.
unsafe extern "C-unwind" fn absent_new<const N: usize>(
    size: usize,
    second: usize,
    third: usize,
) -> *mut c_void {
    let operator = &NEW[N];
    let at_least_one = size.max(1);
    // SAFETY: any size; an alignment of C++ is one of `memalign`.
    let block = unsafe {
        if operator.is_aligned {
            allocate::memalign(second, at_least_one)
        } else {
            allocate::malloc(at_least_one)
        }
    };
    if !block.is_null() || !operator.throws {
        return block;
    }
    // The one of C++'s library has the program's handler called, and throws.
    let found = of_library(operator.definition.name);
    // SAFETY: an operator `new`, called as this one was.
    unsafe {
        if found.is_null() {
            libc::abort();
        }
        transmute::<*mut c_void, New>(found)(size, second, third)
    }
}

/// An operator of a library that was loaded while the program ran, or null.
fn of_library(name: &CStr) -> *mut c_void {
    let found = [c"libstdc++.so.6", c"libc++.so.1", c"libc++abi.so.1"].into_iter().map(|library| {
        // SAFETY: C strings. Nothing is loaded, and the program, which calls the operator, has the library.
        unsafe {
            let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
            if library.is_null() {
                return null_mut();
            }
            let found = libc::dlsym(library, name.as_ptr());
            libc::dlclose(library);
            found
        }
    });
    found.into_iter().find(|found| !found.is_null()).unwrap_or(null_mut())
}

unsafe extern "C-unwind" fn absent_delete(block: *mut c_void, _: usize, _: usize) {
    // SAFETY: as the caller promises.
    unsafe { resize::free(block) };
}

#[cold]
#[inline(never)]
unsafe extern "C-unwind" fn tracked<const N: usize>(
    block: *mut c_void,
    second: usize,
    third: usize,
) {
    freed(Address(block.addr()));
    // SAFETY: as the caller promises.
    unsafe { next_delete::<N>()(block, second, third) };
}

/// Finds the operators, and which of them are to be counted here. Called by this library's constructor.
pub(crate) fn prepare() {
    macro_rules! prepare {
        ($($new:literal)*) => {
            $(prepare_new::<$new>();)*
        };
    }
    prepare! { 0 1 2 3 4 5 6 7 }
}

/// Tries an operator of the library that has the allocator: one that calls `malloc` is counted there.
fn prepare_new<const N: usize>() {
    let operator = &NEW[N];
    let address = found_new::<N>();
    if !next::is_of_allocator(address) {
        return;
    }
    let nothrow = (&raw const NOTHROW).addr();
    let (second, third) = if operator.is_aligned { (ALIGNMENT, nothrow) } else { (nothrow, 0) };
    let mut block = null_mut();
    // SAFETY: called as C++ does.
    let is_counted = counts(|| block = unsafe { next_new::<N>()(1, second, third) });
    let second = if operator.is_aligned { ALIGNMENT } else { 0 };
    let delete =
        DELETE.get(operator.freed_by).map(|delete| delete.find(absent_delete as *mut c_void));
    if let Some(delete) = delete {
        // SAFETY: the operator that frees such blocks.
        unsafe { transmute::<*mut c_void, Delete>(delete)(block, second, 0) };
    }
    operator.is_counted.store(!is_counted, Relaxed);
}

/// Stands for `std::nothrow`, of which nothing is read.
static NOTHROW: u8 = 0;
/// More than `malloc` gives.
const ALIGNMENT: usize = 64;

macro_rules! operators {
    (
        new { $($new:ident = $new_number:literal $new_name:literal $is:expr, $freed_by:literal;)* }
        delete { $($delete:ident = $delete_number:literal $delete_name:literal;)* }
    ) => {
        static NEW: [Allocating; 8] =
            [$(allocating(name(concat!($new_name, "\0")), $is, $freed_by)),*];
        static DELETE: [Definition; 12] =
            [$(Definition::of(name(concat!($delete_name, "\0")))),*];
        $(
            /// # Safety
            /// As the operator's.
            #[unsafe(export_name = $new_name)]
            pub unsafe extern "C-unwind" fn $new(
                size: usize,
                second: usize,
                third: usize,
            ) -> *mut c_void {
                // SAFETY: as the caller promises.
                unsafe {
                    if NEW[$new_number].is_counted.load(Relaxed) && counted(bytes(size)) {
                        return looked_at::<$new_number>(size, second, third);
                    }
                    next_new::<$new_number>()(size, second, third)
                }
            }
        )*
        $(
            /// # Safety
            /// As the operator's.
            #[unsafe(export_name = $delete_name)]
            pub unsafe extern "C-unwind" fn $delete(
                block: *mut c_void,
                second: usize,
                third: usize,
            ) {
                // SAFETY: as the caller promises.
                unsafe {
                    if may_be_tracked(Address(block.addr())) {
                        return tracked::<$delete_number>(block, second, third);
                    }
                    next_delete::<$delete_number>()(block, second, third);
                }
            }
        )*
    };
}

const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

const PLAIN: (bool, bool) = (false, true);
const NOTHROWING: (bool, bool) = (false, false);
const ALIGNED: (bool, bool) = (true, true);
const ALIGNED_NOTHROWING: (bool, bool) = (true, false);

operators! {
    new {
        new = 0 "_Znwm" PLAIN, 0;
        new_array = 1 "_Znam" PLAIN, 1;
        new_nothrow = 2 "_ZnwmRKSt9nothrow_t" NOTHROWING, 0;
        new_array_nothrow = 3 "_ZnamRKSt9nothrow_t" NOTHROWING, 1;
        new_aligned = 4 "_ZnwmSt11align_val_t" ALIGNED, 4;
        new_array_aligned = 5 "_ZnamSt11align_val_t" ALIGNED, 5;
        new_aligned_nothrow = 6 "_ZnwmSt11align_val_tRKSt9nothrow_t" ALIGNED_NOTHROWING, 4;
        new_array_aligned_nothrow = 7 "_ZnamSt11align_val_tRKSt9nothrow_t" ALIGNED_NOTHROWING, 5;
    }
    delete {
        delete = 0 "_ZdlPv";
        delete_array = 1 "_ZdaPv";
        delete_sized = 2 "_ZdlPvm";
        delete_array_sized = 3 "_ZdaPvm";
        delete_aligned = 4 "_ZdlPvSt11align_val_t";
        delete_array_aligned = 5 "_ZdaPvSt11align_val_t";
        delete_sized_aligned = 6 "_ZdlPvmSt11align_val_t";
        delete_array_sized_aligned = 7 "_ZdaPvmSt11align_val_t";
        delete_nothrow = 8 "_ZdlPvRKSt9nothrow_t";
        delete_array_nothrow = 9 "_ZdaPvRKSt9nothrow_t";
        delete_aligned_nothrow = 10 "_ZdlPvSt11align_val_tRKSt9nothrow_t";
        delete_array_aligned_nothrow = 11 "_ZdaPvSt11align_val_tRKSt9nothrow_t";
    }
}
